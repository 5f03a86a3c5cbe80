import { type ClientRequest, request as httpRequest, type IncomingMessage, STATUS_CODES } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Clock } from '../../base/clock.js';
import {
  FORBIDDEN_ADDRESS,
  forbiddenAddress,
  guardedLookup,
  isAllowedAddress,
  type Lookup,
} from './target-address.js';

/** Standard Webhooks asks for 15 to 30 seconds: connecting, sending and the answer together. */
export const DEADLINE_MS = 15_000;
/** Of the answer; the rest is not read. */
const MAX_ANSWER_BYTES = 2_048;

export type PostDeps = {
  readonly clock: Clock;
  readonly allowsLocal: boolean;
  readonly resolve?: Lookup;
};

export type Post = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
};

/** What came of it: an answer, or why there was none, in words that hold nothing of the address. */
export type PostOutcome = {
  /** Null: there was no answer. */
  readonly status: number | null;
  readonly detail: string;
  /** The beginning of the answer's text. */
  readonly answer: string;
  readonly retryAfter: string;
  readonly durationMs: number;
};

const wordsOfCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut off',
  EPIPE: 'the connection was cut off',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'the name of the host can not be resolved now',
  EHOSTUNREACH: 'the host can not be reached',
  ENETUNREACH: 'the network can not be reached',
  ETIMEDOUT: 'the host does not answer',
  [FORBIDDEN_ADDRESS]: 'the address is one of this machine or its link, or of no host: that is not allowed',
  HPE_HEADER_OVERFLOW: 'the answer has too many headers',
};

const wordsOf = (fault: unknown): string => {
  // Several addresses of a name were tried: the first one's fault is as good as the others'.
  const first: unknown = fault instanceof AggregateError ? fault.errors[0] : fault;
  const { code = '' } = first as NodeJS.ErrnoException;
  if (wordsOfCode[code] !== undefined) return wordsOfCode[code];
  if (/^HPE_/.test(code)) return 'the answer is no HTTP';
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) return `the certificate can not be trusted (${code})`;
  if (/^(EPROTO|ERR_SSL|ERR_TLS)/.test(code)) return 'there is no TLS at this address';
  return /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? `it failed (${code})` : 'it failed';
};

const wordsOfStatus = (status: number): string => {
  const text = `answered ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd();
  return status >= 300 && status < 400 ? `${text}; redirects are not followed` : text;
};

const printable = (bytes: Buffer): string =>
  bytes
    .toString('utf8')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim();

/** Reads the beginning, and says when that is all that is wanted. */
const readBeginning = (response: IncomingMessage, done: (text: string) => void): void => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const finish = (): void => done(printable(Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES)));
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= MAX_ANSWER_BYTES) finish();
  });
  response.on('end', finish);
  // The status said it all: what is cut off behind it is no fault.
  response.on('close', finish);
};

const begin = ({ url, headers, body }: Post, deps: PostDeps): ClientRequest => {
  const target = new URL(url);
  const literal = target.hostname.replace(/^\[(.*)\]$/, '$1');
  // Of an address that stands there as such no name is resolved.
  if (isIP(literal) !== 0 && !isAllowedAddress(literal, deps)) throw forbiddenAddress();
  const credentials = decodeURIComponent(`${target.username}:${target.password}`);
  const request = (target.protocol === 'https:' ? httpsRequest : httpRequest)({
    method: 'POST',
    hostname: literal,
    port: target.port,
    path: target.pathname + target.search,
    ...(credentials === ':' ? {} : { auth: credentials }),
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    lookup: guardedLookup(deps, deps.resolve),
    // A connection of its own, by no proxy: what is left of another one may be stale.
    agent: false,
  });
  request.once('socket', (socket) =>
    socket.once('connect', () => {
      const { remoteAddress = '' } = socket;
      if (!isAllowedAddress(remoteAddress, deps)) request.destroy(forbiddenAddress());
    }),
  );
  request.end(body);
  return request;
};

/** Sends one body, within bounds of time and size. It never throws. */
export const post = (what: Post, deps: PostDeps): Promise<PostOutcome> => {
  const { clock } = deps;
  const startMs = clock.monotonicMs();
  return new Promise((resolve) => {
    let request: ClientRequest | null = null;
    let head: IncomingMessage | null = null;
    const deadline = clock.after(DEADLINE_MS, () =>
      finish(head === null ? `there was no answer within ${DEADLINE_MS / 1000} s` : '', ''),
    );
    const onAbort = (): void => finish('it was broken off', '');
    const finish = (fault: string, answer: string): void => {
      deadline.cancel();
      what.signal.removeEventListener('abort', onAbort);
      const status = head?.statusCode ?? null;
      const detail = status === null ? fault : wordsOfStatus(status);
      const retryAfter = head?.headers['retry-after'] ?? '';
      // What comes of it from here on is nobody's business.
      request?.on('error', () => {}).destroy();
      resolve({ status, detail, answer, retryAfter, durationMs: clock.monotonicMs() - startMs });
    };
    if (what.signal.aborted) return finish('it was broken off', '');
    what.signal.addEventListener('abort', onAbort);
    try {
      request = begin(what, deps);
    } catch (fault) {
      return finish(wordsOf(fault), '');
    }
    request.on('error', (fault) => finish(wordsOf(fault), ''));
    // Such as an upgrade, which nobody asked for.
    request.on('close', () => finish('the connection was closed without an answer', ''));
    request.on('response', (response) => {
      head = response;
      response.on('error', () => finish('', ''));
      readBeginning(response, (answer) => finish('', answer));
    });
  });
};
