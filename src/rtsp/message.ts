import { rtspError } from './errors.js';

/** Header fields of a message; names don't mind case, values are trimmed. */
export class RtspHeaders {
  readonly #values = new Map<string, string[]>();

  add(name: string, value: string): void {
    const key = name.toLowerCase();
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, [value]);
    else values.push(value);
  }

  /** The first value of this name, or null. */
  get(name: string): string | null {
    return this.#values.get(name.toLowerCase())?.[0] ?? null;
  }

  /** All values of this name, in order: a camera may send one challenge a header. */
  all(name: string): readonly string[] {
    return this.#values.get(name.toLowerCase()) ?? [];
  }
}

export type RtspResponse = {
  readonly kind: 'response';
  readonly status: number;
  readonly reason: string;
  readonly headers: RtspHeaders;
  readonly body: Buffer;
};

export type RtspRequest = {
  readonly kind: 'request';
  readonly method: string;
  readonly uri: string;
  readonly headers: RtspHeaders;
  readonly body: Buffer;
};

export type StartLine =
  | { readonly kind: 'response'; readonly status: number; readonly reason: string }
  | { readonly kind: 'request'; readonly method: string; readonly uri: string };

/** Reads a status line (RFC 2326 §7.1) or a request line (§6.1); null: it is neither. */
export const parseStartLine = (line: string): StartLine | null => {
  const status = /^RTSP\/\d\.\d\s+(\d{3})(?:\s+(.*))?$/is.exec(line);
  if (status !== null)
    return { kind: 'response', status: Number(status[1]), reason: status[2]?.trim() ?? '' };
  const request = /^([A-Z_]+)\s+(\S+)\s+RTSP\/\d\.\d\s*$/.exec(line);
  return request === null ? null : { kind: 'request', method: request[1]!, uri: request[2]! };
};

/** Reads header lines. What has no colon is passed over; an indented line goes on with the one before it. */
export const parseHeaders = (lines: readonly string[]): RtspHeaders => {
  const headers = new RtspHeaders();
  let name = '';
  let value = '';
  const flush = (): void => {
    if (name !== '') headers.add(name, value.trim());
  };
  for (const line of lines) {
    if (/^[ \t]/.test(line) && name !== '') {
      value += ` ${line.trim()}`;
      continue;
    }
    flush();
    const colon = line.indexOf(':');
    name = colon < 0 ? '' : line.slice(0, colon).trim();
    value = line.slice(colon + 1);
  }
  flush();
  return headers;
};

/** CSeq as Longse writes it: with spaces around it; null where it is missing or no number. */
export const cseqOf = (headers: RtspHeaders): number | null => {
  const match = /^(\d{1,9})\b/.exec(headers.get('cseq') ?? '');
  return match === null ? null : Number(match[1]);
};

export type HeaderLines = readonly (readonly [name: string, value: string])[];

const textOf = (startLine: string, headers: HeaderLines): string => {
  const lines = [startLine, ...headers.map(([name, value]) => `${name}: ${value}`)];
  // URIs and session ids come from the camera: a line end in one of them would let it write headers for us.
  const bad = lines.findIndex((line) => /[\r\n\0]/.test(line));
  if (bad >= 0) throw rtspError('protocol_error', `line ${bad} of our message would hold a line end`);
  return `${lines.join('\r\n')}\r\n\r\n`;
};

/** The text of a request without a body. */
export const writeRequest = (method: string, uri: string, headers: HeaderLines): string =>
  textOf(`${method} ${uri} RTSP/1.0`, headers);

/** The text of an answer without a body. */
export const writeResponse = (status: number, reason: string, headers: HeaderLines): string =>
  textOf(`RTSP/1.0 ${status} ${reason}`, headers);
