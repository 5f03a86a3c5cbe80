import { constants, type Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import { get as httpGet, type IncomingMessage, type RequestOptions } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { AppError, messageOf } from '../base/errors.js';
import type { ModelErrorCode } from './errors.js';

/** A file at the origin, opened: whoever gets it reads it to its end or destroys it. */
export type OriginFile = {
  readonly bytes: Readable;
  /** Null: not known before its end. */
  readonly sizeBytes: number | null;
  /** Called at the end of the bytes; throws if they may not be the file as a whole. */
  readonly confirm: () => Promise<void>;
};

export type OriginLimits = {
  /** Longest silence while connecting, waiting for the answer, and between two pieces of it. */
  readonly idleTimeoutMs: number;
};

const MAX_REDIRECTS = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The origin isn't named in a message: its address may hold credentials, in more places than one. */
export const originFailed = (reason: string, cause?: unknown): AppError<ModelErrorCode> =>
  new AppError('model_origin_failed', `the models origin failed: ${reason}`, { cause });

/** What the system says of a connection names the address: whoever asks for a model is told its code alone. */
export const originFault = (cause: unknown): AppError<ModelErrorCode> => {
  const code: unknown = (cause as { code?: unknown }).code;
  return originFailed(typeof code === 'string' ? code : messageOf(cause), cause);
};

const notFound = (): AppError<ModelErrorCode> =>
  new AppError('model_not_found', 'the models origin has no such file');

/** `<origin>/<filename>`; a query of the origin, such as a signature, is kept. */
export const originUrl = (origin: URL, filename: string): URL => {
  const url = new URL(origin);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${filename}`;
  return url;
};

/** Opens a file at an `http:`, `https:` or `file:` address. */
export const openOrigin = (url: URL, limits: OriginLimits, signal: AbortSignal): Promise<OriginFile> =>
  url.protocol === 'file:' ? openFile(url) : openHttp(url, limits, signal);

/** A stream may fail before its reader begins; that must not end the process. The reader sees it all the same. */
const quiet = <Bytes extends Readable>(bytes: Bytes): Bytes => bytes.on('error', () => {});

const openFile = async (url: URL): Promise<OriginFile> => {
  try {
    // Without O_NONBLOCK a named pipe would block a thread of the pool for ever.
    const file = await open(fileURLToPath(url), constants.O_RDONLY | constants.O_NONBLOCK);
    const before = await file.stat();
    if (!before.isFile()) {
      await file.close();
      throw notFound();
    }
    const bytes = quiet(file.createReadStream({ autoClose: true, end: Math.max(0, before.size - 1) }));
    return { bytes, sizeBytes: before.size, confirm: () => confirmUnchanged(url, before) };
  } catch (fault) {
    if (fault instanceof AppError) throw fault;
    const { code } = fault as NodeJS.ErrnoException;
    throw code === 'ENOENT' || code === 'ENOTDIR' ? notFound() : originFault(fault);
  }
};

/** A file that is being written while we read it is no file yet. */
const confirmUnchanged = async (url: URL, before: Stats): Promise<void> => {
  const file = await open(fileURLToPath(url), constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const after = await file.stat();
    if (after.size !== before.size || after.mtimeMs !== before.mtimeMs || after.ino !== before.ino)
      throw originFailed('the file changed while it was read');
  } finally {
    await file.close();
  }
};

const openHttp = async (origin: URL, limits: OriginLimits, signal: AbortSignal): Promise<OriginFile> => {
  let url = origin;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const answer = await request(
      url,
      url.origin === origin.origin ? authorizationOf(origin) : {},
      limits,
      signal,
    );
    if (!redirects.has(answer.statusCode ?? 0)) return fileOf(answer);
    // The body of a redirect is of no interest, and its connection isn't used again.
    answer.destroy();
    url = redirectTarget(url, answer.headers.location);
  }
  throw originFailed('too many redirects');
};

const redirectTarget = (from: URL, location: string | undefined): URL => {
  if (location === undefined || !URL.canParse(location, from.href))
    throw originFailed('a redirect to nowhere');
  const target = new URL(location, from);
  const isWeb = target.protocol === 'https:' || (target.protocol === 'http:' && from.protocol === 'http:');
  if (!isWeb) throw originFailed(`a redirect from ${from.protocol} to ${target.protocol}`);
  return target;
};

const authorizationOf = ({ username, password }: URL): Record<string, string> => {
  if (username === '' && password === '') return {};
  const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
};

const request = (
  url: URL,
  authorization: Record<string, string>,
  limits: OriginLimits,
  signal: AbortSignal,
): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? httpsGet : httpGet;
    const options: RequestOptions = {
      // A compressed body would have another length than the one that is announced.
      headers: { 'accept-encoding': 'identity', 'user-agent': 'framering', ...authorization },
      agent: false,
      timeout: limits.idleTimeoutMs,
      signal,
      // Those of the URL have become a header, and must not follow a redirect.
      auth: null,
    };
    const sent = get(url, options, resolve);
    sent.on('timeout', () => sent.destroy(new Error(`silent for ${limits.idleTimeoutMs / 1000} s`)));
    sent.on('error', (fault) => reject(originFault(fault)));
  });

/** Judges an answer by its head: only one whose end can be told from a broken connection will do. */
const fileOf = (answer: IncomingMessage): OriginFile => {
  const { statusCode, headers } = answer;
  const fault = ((): AppError<ModelErrorCode> | null => {
    if (statusCode === 404 || statusCode === 410) return notFound();
    if (statusCode !== 200) return originFailed(`status ${statusCode}`);
    if (![undefined, 'identity'].includes(headers['content-encoding']))
      return originFailed('a compressed answer');
    const hasEnd = headers['content-length'] !== undefined || headers['transfer-encoding'] === 'chunked';
    return hasEnd ? null : originFailed('an answer of unknown length');
  })();
  if (fault !== null) {
    answer.destroy();
    throw fault;
  }
  const length = headers['content-length'];
  return {
    bytes: quiet(answer),
    sizeBytes: length === undefined ? null : Number(length),
    confirm: async () => {
      if (!answer.complete) throw originFailed('the transfer was cut');
    },
  };
};
