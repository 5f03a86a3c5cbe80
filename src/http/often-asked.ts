import { type IncomingMessage, ServerResponse } from 'node:http';
import { type ParsedUrlQuery, parse } from 'node:querystring';
import type { Express, Request, RequestHandler, Response } from 'express';
import { bearerTokenOf } from '../auth/tokens.js';
import type { Clock } from '../base/clock.js';
import { type Compression, forgetEncodings, isCompressible } from './compression.js';
import type { ForwardedNotice } from './forwarded-notice.js';
import { type Doorkeepers, send } from './mount.js';
import { asExpressSees, OftenAskedCall } from './often-asked-call.js';
import { sendPieces } from './paced-write.js';
import { sendProblem } from './problem-answer.js';
import { type ReportDeps, requestIdOf, watchRequest } from './request-report.js';
import type { Content, Reply, Route } from './route.js';
import type { Shown } from './stream-access.js';

/** What else is at the same listener: everything that is unusual is left to it. */
export type Beside = {
  readonly app: Express;
  /** What sets the headers that all answers have. */
  readonly headers: readonly RequestHandler[];
  readonly compression: Compression;
};

export type OftenAskedDeps = ReportDeps &
  Pick<Doorkeepers, 'streams'> & {
    readonly forwarded: Pick<ForwardedNotice, 'see'>;
    readonly clock: Pick<Clock, 'wallMs'>;
  };

type OftenAskedRoute = {
  readonly route: Extract<Route, { readonly access: 'stream' | 'connection' }>;
  readonly shape: RegExp;
  readonly names: readonly string[];
  /** Names and values in turn, as they are sent. */
  readonly headers: readonly string[];
};

/** What an address says. */
type Understood = {
  readonly often: OftenAskedRoute;
  readonly cameraId: string;
  readonly params: unknown;
  readonly query: unknown;
  readonly token: string | null;
  readonly session: string | null;
};

/** Viewers of a camera ask for the same at the same time. */
const KEPT_ADDRESSES = 64;
const MAX_KEPT_CHARACTERS = 512;

/** Nothing in such an address can be read in two ways. */
const plainQuery = /^[\w.~=&-]*$/;

const headersAt = (path: string, middleware: readonly RequestHandler[]): string[] => {
  const request = { method: 'GET', path, headers: {} } as unknown as Request;
  // The types leave out that answers know the names as they were written, too.
  const response = new ServerResponse(request) as Response & { getRawHeaderNames(): string[] };
  for (const step of middleware) step(request, response, () => {});
  return response.getRawHeaderNames().flatMap((name) => [name, String(response.getHeader(name))]);
};

/** What the quick way doesn't look at, its routes can't ask for. */
const isOftenAsked = (route: Route): route is OftenAskedRoute['route'] => {
  if (route.isOftenAsked !== true) return false;
  const { audit, isConditional, furtherFaults } = route;
  const permissionWith = route.access === 'stream' ? route.permissionWith : undefined;
  const isPlain = [audit, permissionWith, isConditional, furtherFaults].every((each) => each === undefined);
  if (route.access !== 'stream' || !isPlain)
    throw new Error(`${route.path} asks for what the quick way leaves out`);
  return true;
};

/** What is sent as it is: content without an ETag, in memory, that isn't compressed. */
type PlainReply = Extract<Reply, { readonly text: unknown }>;

const lengthOf = (content: Content): number => {
  if (typeof content === 'string') return Buffer.byteLength(content);
  if (Buffer.isBuffer(content)) return content.length;
  return content.reduce((sum, { length }) => sum + length, 0);
};

const isPlain = (reply: Reply): reply is PlainReply =>
  'text' in reply && reply.headers === undefined && !isCompressible(reply.contentType, lengthOf(reply.text));

/** Null: it is on its way. */
const sendPlainly = (
  { status, text, contentType }: PlainReply,
  headers: readonly string[],
  response: ServerResponse,
): Promise<void> | null => {
  const own = ['Content-Type', contentType, 'Content-Length', String(lengthOf(text))];
  response.writeHead(status, [...headers, 'Cache-Control', 'no-store', ...own]);
  if (typeof text !== 'string') return sendPieces(Buffer.isBuffer(text) ? [text] : text, response);
  response.end(text);
  return null;
};

/** Null: it doesn't fit the schemas, or can be read in two ways. */
const understand = (
  often: OftenAskedRoute,
  match: RegExpExecArray,
  queryFields: ParsedUrlQuery,
): Understood | null => {
  const { token = '', session = '' } = queryFields;
  if (typeof token !== 'string' || typeof session !== 'string') return null;
  const pathFields = Object.fromEntries(often.names.map((name, index) => [name, match[index + 1]!]));
  const params = often.route.params?.safeParse(pathFields);
  const query = often.route.query?.safeParse(queryFields);
  if (params?.success === false || query?.success === false) return null;
  return {
    ...{ often, cameraId: pathFields['id']!, params: params?.data, query: query?.data },
    token: token || null,
    session: session || null,
  };
};

/** What is told in headers, where it is told at all. */
type Told = {
  readonly requestId: string | string[] | undefined;
  readonly token: string | null;
  readonly address: string | null;
};

const NOTHING_TOLD: Told = { requestId: undefined, token: null, address: null };

const tellingHeader = /^(?:x-request-id|authorization|x-forwarded-for|forwarded)$/i;

/** Whether there is anything to read in a head: to have all of it sorted out costs as much as to answer it. */
const isTold = ({ rawHeaders }: IncomingMessage): boolean => {
  for (let at = 0; at < rawHeaders.length; at += 2) if (tellingHeader.test(rawHeaders[at]!)) return true;
  return false;
};

const setAll = (headers: readonly string[], response: ServerResponse): void => {
  for (let at = 0; at < headers.length; at += 2) response.setHeader(headers[at]!, headers[at + 1]!);
};

/**
 * The way of requests that players send by the thousand: the same checks, the same handlers and the same answers as by
 * Express, at a third of its price. What is unusual in any way isn't taken.
 */
export class OftenAsked {
  readonly #routes: readonly OftenAskedRoute[];
  readonly #beside: Beside;
  readonly #isBehindProxy: boolean;
  readonly #deps: OftenAskedDeps;
  readonly #kept = new Map<string, Understood>();

  constructor(routes: readonly Route[], beside: Beside, deps: OftenAskedDeps) {
    this.#beside = beside;
    this.#isBehindProxy = beside.app.get('trust proxy') !== false;
    this.#deps = deps;
    this.#routes = routes.filter(isOftenAsked).map((route) => ({
      route,
      shape: new RegExp(`^${route.path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '([\\w.-]+)')}$`),
      names: [...route.path.matchAll(/:(\w+)/g)].map(([, name]) => name!),
      headers: headersAt(route.path, beside.headers),
    }));
  }

  /** False: it is for Express, and nothing has happened to it. */
  take(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '', httpVersionMinor } = request;
    if (this.#routes.length === 0 || method !== 'GET' || httpVersionMinor !== 1) return false;
    const understood = this.#kept.get(url) ?? this.#understand(url);
    if (understood === null) return false;
    void this.#answer(understood, request, response);
    return true;
  }

  /** Null: Express may say what is wrong with it. */
  #understand(url: string): Understood | null {
    const queryAt = url.indexOf('?');
    const queryText = queryAt === -1 ? '' : url.slice(queryAt + 1);
    if (!plainQuery.test(queryText)) return null;
    const path = queryAt === -1 ? url : url.slice(0, queryAt);
    for (const often of this.#routes) {
      const match = often.shape.exec(path);
      if (match === null) continue;
      const understood = understand(often, match, parse(queryText));
      if (understood !== null && url.length <= MAX_KEPT_CHARACTERS) this.#keep(url, understood);
      return understood;
    }
    return null;
  }

  #keep(url: string, understood: Understood): void {
    // Those who have one of their own ask for nothing that others ask for.
    if (understood.session !== null || understood.token !== null) return;
    if (this.#kept.size >= KEPT_ADDRESSES) this.#kept.clear();
    this.#kept.set(url, understood);
  }

  async #answer(
    { often, cameraId, params, query, token, session }: Understood,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const { route } = often;
    const { streams, clock } = this.#deps;
    const { app } = this.#beside;
    const told = isTold(request) ? this.#readHead(request) : NOTHING_TOLD;
    const shown: Shown = {
      token: told.token ?? token,
      session,
      address: told.address ?? request.socket.remoteAddress ?? '',
    };
    const requestId = requestIdOf(told.requestId);
    watchRequest(this.#deps, request, response, requestId, () => route.path);
    const serviceTime = new Date(clock.wallMs()).toISOString();
    const headers = ['X-Request-Id', requestId, 'Service-Time', serviceTime, ...often.headers];
    try {
      const viewing = streams.pollBy(shown, cameraId, route.permission);
      const call = new OftenAskedCall({ params, query, viewing, shown }, request, response, app);
      const reply = await route.handle(call);
      // Whoever waited may have lost the right meanwhile.
      streams.pollBy(shown, cameraId, route.permission);
      if (isPlain(reply)) {
        const sending = sendPlainly(reply, headers, response);
        if (sending !== null) await sending;
        return;
      }
      setAll(headers, response);
      forgetEncodings(request.headers);
      Object.setPrototypeOf(response, app.response);
      await send(reply, asExpressSees(request, app), response as Response, this.#beside.compression);
    } catch (thrown) {
      if (!response.headersSent) setAll(headers, response);
      sendProblem(this.#deps, thrown, request, response, { route: route.path, requestId });
    }
  }

  #readHead(request: IncomingMessage): Told {
    const { headers } = request;
    const isNoticed = !this.#isBehindProxy;
    if (isNoticed) this.#deps.forwarded.see(headers);
    return {
      requestId: headers['x-request-id'],
      token: bearerTokenOf(headers.authorization),
      address: isNoticed ? null : (asExpressSees(request, this.#beside.app).ip ?? null),
    };
  }
}
