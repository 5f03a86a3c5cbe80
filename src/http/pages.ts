import { createHash } from 'node:crypto';
import { existsSync, openSync, read, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Request, RequestHandler, Response } from 'express';
import { isNoneMatch } from '../base/byte-range.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { sendPiece } from './paced-write.js';

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.wasm': 'application/wasm',
};

/** Everything comes from here; only pictures, sound and video may also be made in the page itself. */
export const PAGE_POLICY = [
  "default-src 'none'",
  ...['script-src', 'style-src', 'connect-src', 'worker-src', 'manifest-src', 'font-src', 'form-action'].map(
    (name) => `${name} 'self'`,
  ),
  "img-src 'self' blob: data:",
  "media-src 'self' blob: data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** A worker has a policy of its own: what runs models is WebAssembly, which no page may start. */
const RUNS_MODELS = /^\/assets\/model-worker-[^/]*\.js$/;
const policyOf = (path: string): string =>
  RUNS_MODELS.test(path)
    ? PAGE_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'")
    : PAGE_POLICY;

/** Paths of the app's own pages, each of which gets the one document. */
const PAGE_PATH =
  /^\/(?:$|(?:login|setup|wall|camera|archive|events|cameras|users|keys|webhooks|cluster|system|logs|me)(?:\/[^/]{1,200}){0,2}$)/;
/** Pages of the guide; its first one as people type it, too. */
const GUIDE_PATH = /^\/docs(?:\/([a-z-]{1,40})?)?$/;
/** Files whose name has the hash of what is in them never change. */
const HASHED = /^\/assets\//;
const FOR_EVER = 'public, max-age=31536000, immutable';

/** What is larger is read when somebody asks for it: the runtime of models is as much as all else that the service keeps. */
const MOST_HELD_BYTES = 256 << 10;

/** A file's bytes, or what they are read from: open, so that a build that takes its place takes nothing away. */
type Content = { readonly lengthBytes: number; readonly held: Buffer | null; readonly descriptor: number };

type PageFile = {
  readonly contentType: string;
  readonly plain: Content;
  readonly brotli: Content | null;
  readonly etag: string;
};

const NOT_OPEN = -1;

const contentOf = (path: string, bytes: Buffer): Content =>
  bytes.length > MOST_HELD_BYTES
    ? { lengthBytes: bytes.length, held: null, descriptor: openSync(path, 'r') }
    : { lengthBytes: bytes.length, held: bytes, descriptor: NOT_OPEN };

const readPageFile = (path: string): PageFile => {
  const bytes = readFileSync(path);
  const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
  const compressed = `${path}.br`;
  return {
    contentType: contentTypes[extname(path)] ?? 'application/octet-stream',
    plain: contentOf(path, bytes),
    // What is small, or compressed already, has none.
    brotli: existsSync(compressed) ? contentOf(compressed, readFileSync(compressed)) : null,
    etag,
  };
};

const readFolder = (folder: string): Map<string, PageFile> =>
  new Map(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.endsWith('.br') && statSync(join(folder, name)).isFile())
      .map((name) => [`/${name.replaceAll('\\', '/')}`, readPageFile(join(folder, name))]),
  );

const readAt = promisify(read);
const STEP_BYTES = 65_536;

/** Sends what isn't held, no faster than the client takes it. Where the disk fails, the response is cut off. */
const sendFromDisk = async ({ descriptor, lengthBytes }: Content, response: Response): Promise<void> => {
  for (let at = 0; at < lengthBytes && !response.destroyed; ) {
    const piece = Buffer.allocUnsafe(Math.min(STEP_BYTES, lengthBytes - at));
    const { bytesRead } = await readAt(descriptor, piece, 0, piece.length, at);
    if (bytesRead === 0) throw new Error('the file is shorter than it was');
    at += bytesRead;
    await sendPiece(piece.subarray(0, bytesRead), response);
  }
  response.end();
};

const sendFile = (file: PageFile, path: string, request: Request, response: Response): void => {
  const isPlain = file.brotli === null || request.acceptsEncodings('br') !== 'br';
  const etag = isPlain ? file.etag : file.etag.replace(/"$/, '-br"');
  response.setHeader('Content-Security-Policy', policyOf(path));
  response.setHeader('Cache-Control', HASHED.test(path) ? FOR_EVER : 'no-cache');
  response.setHeader('ETag', etag);
  if (file.brotli !== null) response.vary('Accept-Encoding');
  if (!isNoneMatch(request.headers['if-none-match'], etag)) {
    response.status(304).end();
    return;
  }
  const content = isPlain ? file.plain : (file.brotli ?? file.plain);
  if (!isPlain) response.setHeader('Content-Encoding', 'br');
  response.setHeader('Content-Type', file.contentType);
  response.setHeader('Content-Length', content.lengthBytes);
  if (content.held !== null || request.method === 'HEAD') {
    response.end(content.held);
    return;
  }
  sendFromDisk(content, response).catch(() => response.destroy());
};

/** The file that a path stands for. */
const fileOf = (path: string): string => {
  if (PAGE_PATH.test(path)) return '/index.html';
  const guide = GUIDE_PATH.exec(path);
  return guide === null ? path : `/docs/${guide[1] ?? 'index'}.html`;
};

/**
 * The web app and the guide: what `npm run build` made of src/web and src/docs, read once at the start, so
 * that no name is ever a path; but for what is large, no request touches a disk. Without it the service does all else.
 */
export const createPages = (folder: string, log: Logger): RequestHandler => {
  let files = new Map<string, PageFile>();
  try {
    files = readFolder(folder);
  } catch (fault) {
    log.warn('the web app was not built: npm run build makes it', { reason: messageOf(fault) });
  }
  return (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      next();
      return;
    }
    const path = fileOf(request.path);
    const file = files.get(path);
    if (file === undefined) {
      next();
      return;
    }
    response.locals['route'] = HASHED.test(path) ? '/assets' : '/';
    sendFile(file, path, request, response);
  };
};
