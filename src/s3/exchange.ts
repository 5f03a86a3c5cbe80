import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, Agent as TlsAgent } from 'node:https';
import type { AppError } from '../base/errors.js';
import type { S3ErrorCode } from './errors.js';
import { s3Error } from './errors.js';

/** A body in memory; `pace` is asked before each slice of it goes. */
export type OutgoingBody = {
  readonly bytes: Uint8Array;
  readonly pace?: (bytes: number, signal: AbortSignal) => Promise<void>;
};

export type Outgoing = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: OutgoingBody;
  /** Of the answer: one that is longer is refused. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
  /** Something went on: bytes were taken, or came. */
  readonly onProgress: () => void;
  /** All of it was sent: now it is for the store to do something. */
  readonly onSent: () => void;
};

export type Incoming = {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
};

export type Where = {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
  /** Who alone may sign for it; null: those whom Node knows. */
  readonly ca: Buffer | null;
};

/** A slow link takes some of it every now and then; so it shows that it goes on. */
const SLICE_BYTES = 64 * 1024;
const IDLE_SOCKET_MS = 10_000;
const MAX_SOCKETS = 16;
/** Of an answer that tells what went wrong. */
const MAX_ERROR_BYTES = 64 * 1024;

export const agentFor = ({ isTls, ca }: Where): Agent => {
  const options = { keepAlive: true, maxSockets: MAX_SOCKETS, timeout: IDLE_SOCKET_MS };
  return isTls ? new TlsAgent({ ...options, ...(ca === null ? {} : { ca }) }) : new Agent(options);
};

const wordsOfCode: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was cut off',
  EPIPE: 'the connection was cut off',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: "the name of the host can't be resolved now",
  EHOSTUNREACH: "the host can't be reached",
  ENETUNREACH: "the network can't be reached",
  ETIMEDOUT: "the host doesn't answer",
};

/** What the network says, in words that hold nothing of the address. */
const networkFault = (fault: Error): AppError<S3ErrorCode> => {
  // Several addresses of a name were tried: the first one's fault is as good as the others'.
  const first: unknown = fault instanceof AggregateError ? fault.errors[0] : fault;
  const { code = '' } = first as NodeJS.ErrnoException;
  const as = (words: string): AppError<S3ErrorCode> =>
    s3Error('s3_unavailable', `the store can't be reached: ${words}`, { details: { code } });
  if (/^HPE_/.test(code)) return s3Error('s3_bad_answer', 'what the store answers is no HTTP');
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code)) return as(`its certificate can't be trusted (${code})`);
  if (/^(?:EPROTO|ERR_SSL|ERR_TLS)/.test(code)) return as('there is no TLS at this address');
  return as(wordsOfCode[code] ?? `it failed (${/^[A-Z0-9_]{1,40}$/.test(code) ? code : 'unknown'})`);
};

/** The store closed a connection that lay idle, at the moment when it was used again: nothing was done. */
const wasStale = (request: ClientRequest, fault: Error): boolean =>
  request.reusedSocket && ['ECONNRESET', 'EPIPE'].includes((fault as NodeJS.ErrnoException).code ?? '');

const drained = (request: ClientRequest): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      request.off('drain', end).off('close', end);
      resolve();
    };
    request.on('drain', end).on('close', end);
  });

const send = async (
  request: ClientRequest,
  { body, signal, onProgress, onSent }: Outgoing,
): Promise<void> => {
  const bytes = body?.bytes ?? new Uint8Array();
  for (let at = 0; at < bytes.length && !request.destroyed; at += SLICE_BYTES) {
    const slice = bytes.subarray(at, at + SLICE_BYTES);
    await body?.pace?.(slice.length, signal);
    if (request.destroyed) return;
    if (!request.write(slice)) await drained(request);
    onProgress();
  }
  if (request.destroyed) return;
  request.end();
  onSent();
};

const receive = (
  response: IncomingMessage,
  { maxBytes, onProgress }: Outgoing,
  done: (body: Buffer) => void,
  fail: (fault: Error) => void,
): void => {
  const chunks: Buffer[] = [];
  const isError = (response.statusCode ?? 0) >= 300;
  let bytes = 0;
  response.on('data', (chunk: Buffer) => {
    onProgress();
    bytes += chunk.length;
    if (bytes > (isError ? MAX_ERROR_BYTES : maxBytes))
      fail(s3Error('s3_bad_answer', 'the store answers with more than was asked for'));
    else chunks.push(chunk);
  });
  response.on('end', () => {
    if (response.complete) done(Buffer.concat(chunks, bytes));
  });
  response.on('error', fail);
  response.on('close', () => fail(s3Error('s3_unavailable', "the store's answer was cut off")));
};

const attempt = (what: Outgoing, where: Where, agent: Agent): Promise<Incoming | 'stale'> =>
  new Promise((resolve, reject) => {
    const { method, path, headers, signal } = what;
    const { host, port, isTls } = where;
    const request = (isTls ? httpsRequest : httpRequest)({ method, path, headers, host, port, agent });
    let isDone = false;
    const finish = (end: () => void): void => {
      if (isDone) return;
      isDone = true;
      signal.removeEventListener('abort', onAbort);
      end();
    };
    const fail = (fault: Error): void =>
      finish(() => {
        request.on('error', () => {}).destroy();
        if ('details' in fault) reject(fault);
        else if (wasStale(request, fault)) resolve('stale');
        else reject(networkFault(fault));
      });
    const onAbort = (): void =>
      finish(() => {
        request.on('error', () => {}).destroy();
        reject(signal.reason);
      });
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort);
    request.on('error', fail);
    request.on('close', () => fail(s3Error('s3_unavailable', 'the store closed the connection')));
    request.on('response', (response) => {
      what.onProgress();
      receive(
        response,
        what,
        (body) =>
          finish(() => {
            // It refused without having heard all.
            if (!request.writableEnded) request.destroy();
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
          }),
        fail,
      );
    });
    send(request, what).catch(fail);
  });

/** One request and its answer. Rejects with an S3 error, or with what its signal was aborted for. */
export const exchange = async (what: Outgoing, where: Where, agent: Agent): Promise<Incoming> => {
  for (let tries = 0; ; tries += 1) {
    const answer = await attempt(what, where, agent);
    if (answer !== 'stale') return answer;
    if (tries >= MAX_SOCKETS)
      throw s3Error('s3_unavailable', 'the store closes each connection that it is asked by');
  }
};
