import type { Express, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { EVERYTHING, type Sight, type Sights } from '../auth/sight.js';
import { isNoneMatch } from '../base/byte-range.js';
import { AppError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { authorize, rolePermissionOf, type TokenVerifier } from './access.js';
import { type AuditDetails, AuditNote } from './audit.js';
import { createBodyReader, DEFAULT_BODY_LIMIT_BYTES } from './body.js';
import { type Compression, encodedTag, encodingFor, forgetEncodings, isCompressible } from './compression.js';
import { sendPieces } from './paced-write.js';
import { httpError, problemOf } from './problem.js';
import type { Asked, Content, Entry, Reply, Route, RouteAccess } from './route.js';
import { idParams } from './schemas.js';
import { authorizeSession } from './session-access.js';
import type { StreamAccess } from './stream-access.js';
import { validate } from './validate.js';

/** Who decides who may use a route, and where it is written down that somebody did. */
export type Doorkeepers = {
  readonly tokens: TokenVerifier;
  readonly streams: StreamAccess;
  readonly sights: Pick<Sights, 'of'>;
  readonly audit: Logger;
};

const nothing = z.unknown();

const totalBytes = (pieces: readonly Buffer[]): number => pieces.reduce((sum, { length }) => sum + length, 0);

const piecesOf = (content: Content): readonly Buffer[] => {
  if (typeof content === 'string') return [Buffer.from(content)];
  return Buffer.isBuffer(content) ? [content] : content;
};

/** Sends what a handler answered, compressed where that pays. Node leaves the body out for HEAD. */
export const send = async (
  reply: Reply,
  request: Request,
  response: Response,
  compression: Compression,
): Promise<void> => {
  if ('write' in reply) {
    await reply.write(request, response);
    return;
  }
  const content = 'text' in reply ? reply.text : JSON.stringify(reply.body);
  const contentType = 'text' in reply ? reply.contentType : 'application/json; charset=utf-8';
  let pieces = piecesOf(content);
  response.statusCode = reply.status;
  response.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  const isWorthIt = isCompressible(contentType, totalBytes(pieces));
  if (isWorthIt) response.vary('Accept-Encoding');
  const encoding = isWorthIt ? encodingFor(request) : null;
  const etag = reply.headers?.['ETag'] as string | undefined;
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  if (isRead && etag !== undefined && !isNoneMatch(request.headers['if-none-match'], etag)) {
    if (encoding !== null) response.setHeader('ETag', encodedTag(etag, encoding));
    response.statusCode = 304;
    response.end();
    return;
  }
  const [only] = pieces;
  const compressed =
    encoding === null || only === undefined || pieces.length > 1
      ? null
      : await compression.of(only, encoding);
  if (compressed !== null && encoding !== null) {
    pieces = [compressed];
    response.setHeader('Content-Encoding', encoding);
    if (etag !== undefined) response.setHeader('ETag', encodedTag(etag, encoding));
  }
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', totalBytes(pieces));
  await sendPieces(pieces, response);
};

/** Lets the caller in, or throws. */
const enter = (route: RouteAccess, { tokens, streams }: Doorkeepers, request: Request): Entry => {
  const nobody: Entry = { principal: null, session: null, viewing: null, place: null };
  if (route.access === 'public') return nobody;
  if (route.access === 'session') return { ...nobody, session: authorizeSession(request) };
  if (route.access === 'wall') {
    streams.openWall(request).release();
    return nobody;
  }
  if (route.permission === undefined)
    return { ...nobody, principal: authorize(tokens, request, route.access) };
  const { id } = validate(idParams, request.params);
  const { permissionWith = {} } = route;
  const field = Object.keys(permissionWith).find((name) => request.query[name] !== undefined);
  const permission = permissionWith[field ?? ''] ?? route.permission;
  return route.access === 'stream'
    ? { ...nobody, viewing: streams.poll(request, id, permission) }
    : { ...nobody, place: streams.connect(request, id, permission) };
};

/** Whoever had the right when the request began may have lost it while its body came in, for two minutes at most. */
const stillMay = (route: RouteAccess, { tokens }: Doorkeepers, request: Request): void => {
  const permission = rolePermissionOf(route);
  if (permission !== null) authorize(tokens, request, permission);
};

/** Whoever waited for a part or a picture may have lost the right meanwhile; what takes its time to send looks itself. */
const stillWatches = (route: Route, reply: Reply, doorkeepers: Doorkeepers, request: Request): void => {
  if (route.access === 'stream' && !('write' in reply)) enter(route, doorkeepers, request);
};

/** A camera that is out of sight is none: routes of one needn't ask. */
const requireSight = ({ path }: Route, params: unknown, sight: Sight): void => {
  if (!/^\/api\/cameras\/:id(?:\/|$)/.test(path)) return;
  const { id } = params as z.infer<typeof idParams>;
  if (!sight.seesCamera(id)) throw new AppError('not_found', `there is no camera ${id}`);
};

/** Why it failed, if that is audited: of what failed by our own fault a part may have been done. */
const auditedFailureOf = ({ method, auditedFailures }: Route, thrown: unknown): string | null => {
  const { code, status } = problemOf(thrown).problem;
  const isAudited = auditedFailures?.includes(code) ?? (method !== 'get' && status >= 500);
  return isAudited ? code : null;
};

/** What the path says of whom or what it is about. */
const subjectOf = (path: string, params: unknown): AuditDetails => {
  const [subject] = Object.values((params ?? {}) as Record<string, string>);
  if (subject === undefined) return {};
  return path.startsWith('/api/cameras/') ? { camera_id: subject } : { target: subject };
};

const noteOf = (
  { audit: action = null }: Route,
  { audit }: Doorkeepers,
  { principal }: Entry,
  request: Request,
  response: Response,
): AuditNote | null =>
  action === null
    ? null
    : new AuditNote(audit, action, {
        principal,
        clientAddress: request.ip ?? '',
        requestId: response.locals['requestId'],
      });

export const askedOf = (request: Request): Asked => ({
  method: request.method,
  target: request.originalUrl,
  // Of a proxy that is trusted, what it was asked.
  host: request.host ?? '',
  localAddress: request.socket.localAddress ?? '',
  authorization: request.headers.authorization ?? '',
});

/** Who may, then what is sent, then whether it fits: nobody makes us read a body who may not send one. */
const handlerOf = (route: Route, doorkeepers: Doorkeepers, compression: Compression): RequestHandler => {
  const readBody = createBodyReader(route.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES, route.bodyType);
  const answer = async (
    entry: Entry,
    note: AuditNote | null,
    request: Request,
    response: Response,
  ): Promise<Reply> => {
    const ifMatch = request.headers['if-match'];
    if (route.isConditional && ifMatch === undefined)
      throw httpError('precondition_required', 'If-Match must say which state of it is to be changed');
    let body: unknown;
    if (route.body !== undefined) {
      body = await readBody(request, response);
      stillMay(route, doorkeepers, request);
    }
    const params = validate(route.params ?? nothing, request.params);
    note?.add(subjectOf(route.path, params));
    const sight = entry.principal === null ? EVERYTHING : doorkeepers.sights.of(entry.principal.limits);
    const query = validate(route.query ?? nothing, request.query);
    const { furtherFaults = () => [] } = route;
    const content = validate(
      ...([route.body ?? nothing, body] as const),
      (input) => furtherFaults(input, sight),
      route.maxListedFaults,
    );
    requireSight(route, params, sight);
    return await route.handle({
      ...{ params, query, body: content, sight },
      ...entry,
      ifMatch: ifMatch ?? '',
      clientAddress: request.ip ?? '',
      asked: askedOf(request),
      userAgent: request.headers['user-agent'] ?? '',
      onGone: (listener) => {
        if (response.destroyed) listener();
        else response.once('close', listener);
      },
      isSecure: request.secure,
      note: (details) => (details === null ? note?.leaveOut() : note?.add(details)),
    });
  };
  return async (request, response) => {
    response.locals['route'] = route.path;
    forgetEncodings(request.headers);
    const entry = enter(route, doorkeepers, request);
    const note = noteOf(route, doorkeepers, entry, request, response);
    let reply: Reply;
    try {
      reply = await answer(entry, note, request, response);
      stillWatches(route, reply, doorkeepers, request);
    } catch (thrown) {
      entry.place?.release();
      const failure = auditedFailureOf(route, thrown);
      if (failure !== null) note?.failed(failure);
      throw thrown;
    }
    // What was changed is changed, whether or not the client waits to hear of it.
    const isChange = route.method !== 'get';
    if (isChange) note?.done();
    try {
      await send(reply, request, response, compression);
    } finally {
      // Of a download that was cut, a part is out all the same.
      const isOut = request.method !== 'HEAD' && response.headersSent && response.statusCode < 300;
      if (!isChange && isOut) note?.done();
    }
  };
};

/** What may be asked of a path: GET brings HEAD with it, and OPTIONS tells the rest. */
const allowOf = (routes: readonly Route[]): string => {
  const methods = routes.flatMap(({ method }) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  return [...new Set(methods), 'OPTIONS'].join(', ');
};

/** What fits all paths of a route, and may fit declared ones: `/api/cameras/bulk` may be the camera `bulk`, too. */
const patternOf = ({ path }: Route): RegExp =>
  new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`);

/** Mounts declared routes, and answers other methods of their paths. */
export const mountRoutes = (
  app: Express,
  routes: readonly Route[],
  doorkeepers: Doorkeepers,
  compression: Compression,
): void => {
  for (const route of routes) app[route.method](route.path, handlerOf(route, doorkeepers, compression));
  const patterns = routes.map((route) => ({ route, pattern: patternOf(route) }));
  for (const path of new Set(routes.map((route) => route.path))) {
    const allow = allowOf(patterns.flatMap(({ route, pattern }) => (pattern.test(path) ? [route] : [])));
    app.all(path, (request, response) => {
      response.locals['route'] = path;
      if (request.method !== 'OPTIONS')
        throw httpError('method_not_allowed', `${path} knows ${allow}`, { allow });
      response.setHeader('Allow', allow);
      response.setHeader('Access-Control-Allow-Methods', allow);
      response.status(204).end();
    });
  }
};
