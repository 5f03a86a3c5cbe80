import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { plainAddress } from '../base/client-address.js';
import type { Clock } from '../base/clock.js';
import { startDeadline } from '../base/deadline.js';
import type { CertificatePolicy } from '../rtsp/quirks.js';
import { hostOf } from './device-address.js';
import { onvifError } from './errors.js';

/** A recorder with 32 cameras tells of its profiles in 300 KB. */
const MAX_ANSWER_BYTES = 512 * 1024;
/** So long any answer takes that isn't waited for on purpose. */
export const ANSWER_LIMIT_MS = 5_000;

export type HttpAnswer = {
  readonly status: number;
  /** Of `WWW-Authenticate`. */
  readonly challenges: readonly string[];
  /** "" where there is none. */
  readonly date: string;
  readonly location: string;
  readonly body: Buffer;
  /** The address that the host's name led to; "": the connection was gone before anybody looked. */
  readonly reached: string;
};

export type HttpPost = {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly certificate: CertificatePolicy;
  /** From the first packet to the answer's last byte. */
  readonly limitMs?: number;
  /** Of the answer. */
  readonly maxBytes?: number;
};

const codeOf = (error: Error): string =>
  'code' in error && typeof error.code === 'string' ? error.code : error.name;

/** What the network says, as a sentence. */
const failureOf = (error: Error, url: URL): Error => {
  const where = url.host;
  const code = codeOf(error);
  const as = (sentence: string): Error => onvifError('camera_unreachable', sentence, { details: { code } });
  if (/CERT|SELF_SIGNED|ALTNAME|UNABLE_TO_/.test(code))
    return onvifError(
      'camera_certificate',
      `the certificate of ${where} is signed by no known authority for this name: take any certificate of this camera, or give it a proper one`,
      { details: { code } },
    );
  switch (code) {
    case 'ECONNREFUSED':
      return as(`nothing listens at ${where}: check the port, and that ONVIF is switched on in the camera`);
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return as(`the name in ${where} is unknown: check it, or use the address`);
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'EHOSTDOWN':
    case 'ETIMEDOUT':
      return as(`no way to ${where}: check that the camera is on and in reach`);
    case 'ECONNRESET':
    case 'EPIPE':
      return as(`${where} closed the connection without an answer: check the port, and http or https`);
    default:
      return /^(?:HPE_|EPROTO|ERR_SSL)/.test(code)
        ? onvifError(
            'not_onvif',
            `what answers at ${where} is no web service: check the port, and http or https`,
          )
        : as(`no connection to ${where} (${code})`);
  }
};

const cutOff = (): Error => Object.assign(new Error('cut off'), { code: 'ECONNRESET' });

const collect = (response: IncomingMessage, url: URL, maxBytes: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes)
        response.destroy(
          onvifError('camera_bad_answer', `${url.host} answers with more than ${maxBytes / 1024} KB`),
        );
      else chunks.push(chunk);
    });
    response.on('end', () => resolve(Buffer.concat(chunks, bytes)));
    response.on('error', reject);
    // Of a response that is cut off neither of them may come.
    response.on('close', () => reject(cutOff()));
  });

/** One request and its answer, within bounds; what goes wrong is an OnvifError. Follows nobody elsewhere. */
export const post = async (
  { url, headers, body, certificate, limitMs = ANSWER_LIMIT_MS, maxBytes = MAX_ANSWER_BYTES }: HttpPost,
  { clock, signal }: { readonly clock: Pick<Clock, 'after'>; readonly signal?: AbortSignal | undefined },
): Promise<HttpAnswer> => {
  const reason = () => onvifError('camera_timeout', `${url.host} gave no answer within ${limitMs / 1_000} s`);
  const deadline = startDeadline(clock, { afterMs: limitMs, reason }, signal);
  const options = {
    ...{ method: 'POST', host: hostOf(url), port: url.port, path: `${url.pathname}${url.search}` },
    headers: { ...headers, Host: url.host, 'Content-Length': Buffer.byteLength(body), Connection: 'close' },
    ...{ agent: false, signal: deadline.signal },
  } as const;
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const request: ClientRequest =
        url.protocol === 'https:'
          ? httpsRequest({ ...options, rejectUnauthorized: certificate === 'verify' }, resolve)
          : httpRequest(options, resolve);
      request.on('error', reject);
      // Who switches to another protocol gives no answer, and that is no error of Node's.
      request.on('close', () => reject(cutOff()));
      request.end(body);
    });
    const { statusCode = 0, headers: got, headersDistinct } = response;
    // Of a connection that is closed Node tells none.
    const reached = plainAddress(response.socket.remoteAddress ?? '');
    return {
      status: statusCode,
      challenges: headersDistinct['www-authenticate'] ?? [],
      date: got.date ?? '',
      location: got.location ?? '',
      body: await collect(response, url, maxBytes),
      reached,
    };
  } catch (fault) {
    deadline.signal.throwIfAborted();
    if (!(fault instanceof Error) || fault.name === 'AppError') throw fault;
    throw failureOf(fault, url);
  } finally {
    deadline.end();
  }
};
