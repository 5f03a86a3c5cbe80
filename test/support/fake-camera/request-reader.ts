/** One request of a client. Header names are in lower case. */
export type RtspRequest = {
  readonly method: string;
  readonly url: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
};

export type RequestReaderEvents = {
  readonly onRequest: (request: RtspRequest) => void;
  /** What a client sends on a channel: its receiver reports. */
  readonly onInterleaved: (channel: number, data: Buffer) => void;
};

const parseHead = (head: string): { request: Omit<RtspRequest, 'body'>; bodyBytes: number } => {
  const [first = '', ...lines] = head.split('\r\n');
  const match = /^([A-Z_]+) (\S+) RTSP\/1\.0$/.exec(first);
  if (match === null) throw new Error(`not a request line: ${JSON.stringify(first)}`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new Error(`not a header: ${JSON.stringify(line)}`);
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return {
    request: { method: match[1]!, url: match[2]!, headers },
    bodyBytes: Number(headers.get('content-length') ?? 0),
  };
};

/** Takes what a client sends apart. It is strict on purpose: a client's mistake throws and fails the test. */
export class RequestReader {
  readonly #events: RequestReaderEvents;
  #rest = Buffer.alloc(0);

  constructor(events: RequestReaderEvents) {
    this.#events = events;
  }

  push(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#takeOne());
  }

  #takeOne(): boolean {
    const rest = this.#rest;
    if (rest[0] === 0x24) {
      if (rest.length < 4) return false;
      const end = 4 + rest.readUInt16BE(2);
      if (rest.length < end) return false;
      this.#events.onInterleaved(rest[1]!, rest.subarray(4, end));
      this.#rest = rest.subarray(end);
      return this.#rest.length > 0;
    }
    const headEnd = rest.indexOf('\r\n\r\n');
    if (headEnd < 0) return false;
    const { request, bodyBytes } = parseHead(rest.toString('latin1', 0, headEnd));
    const end = headEnd + 4 + bodyBytes;
    if (rest.length < end) return false;
    this.#rest = rest.subarray(end);
    this.#events.onRequest({ ...request, body: rest.toString('utf8', headEnd + 4, end) });
    return this.#rest.length > 0;
  }
}
