import type { Express, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { isNoneMatch } from '../base/byte-range.js';
import { authorize, type TokenVerifier } from './access.js';
import { createBodyReader, DEFAULT_BODY_LIMIT_BYTES } from './body.js';
import { httpError } from './problem.js';
import type { Entry, Reply, Route, RouteAccess } from './route.js';
import { idParams } from './schemas.js';
import type { StreamAccess } from './stream-access.js';
import { validate } from './validate.js';

/** Who decides who may use a route. */
export type Doorkeepers = { readonly tokens: TokenVerifier; readonly streams: StreamAccess };

const nothing = z.unknown();

/** Sends what a handler answered. Node leaves the body out for HEAD. */
const send = async (reply: Reply, request: Request, response: Response): Promise<void> => {
  if ('write' in reply) {
    await reply.write(request, response);
    return;
  }
  const content = 'text' in reply ? reply.text : JSON.stringify(reply.body);
  response.statusCode = reply.status;
  response.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
  const etag = reply.headers?.['ETag'];
  if (etag !== undefined && !isNoneMatch(request.headers['if-none-match'], etag)) {
    response.statusCode = 304;
    response.end();
    return;
  }
  response.setHeader('Content-Type', 'text' in reply ? reply.contentType : 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(content));
  response.end(content);
};

/** Lets the caller in, or throws. */
const enter = (route: RouteAccess, { tokens, streams }: Doorkeepers, request: Request): Entry => {
  const nobody: Entry = { principal: null, viewing: null, hold: null };
  if (route.access === 'public') return nobody;
  if (route.permission === undefined)
    return { ...nobody, principal: authorize(tokens, request, route.access) };
  const { id } = validate(idParams, request.params);
  return route.access === 'stream'
    ? { ...nobody, viewing: streams.poll(request, id, route.permission) }
    : { ...nobody, hold: streams.connect(request, id, route.permission) };
};

/** Who may, then what is sent, then whether it fits: nobody makes us read a body who may not send one. */
const handlerOf = (route: Route, doorkeepers: Doorkeepers): RequestHandler => {
  const readBody = createBodyReader(route.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES, route.bodyType);
  const answer = async (entry: Entry, request: Request, response: Response): Promise<Reply> => {
    const body = route.body === undefined ? undefined : await readBody(request, response);
    return await route.handle({
      params: validate(route.params ?? nothing, request.params),
      query: validate(route.query ?? nothing, request.query),
      body: validate(route.body ?? nothing, body, route.furtherFaults),
      ...entry,
      clientAddress: request.ip ?? '',
    });
  };
  return async (request, response) => {
    response.locals['route'] = route.path;
    const entry = enter(route, doorkeepers, request);
    let reply: Reply;
    try {
      reply = await answer(entry, request, response);
    } catch (thrown) {
      entry.hold?.release();
      throw thrown;
    }
    await send(reply, request, response);
  };
};

/** What may be asked of a path: GET brings HEAD with it, and OPTIONS tells the rest. */
const allowOf = (routes: readonly Route[]): string => {
  const methods = routes.flatMap(({ method }) =>
    method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()],
  );
  return [...methods, 'OPTIONS'].join(', ');
};

/** Mounts declared routes, and answers other methods of their paths. */
export const mountRoutes = (app: Express, routes: readonly Route[], doorkeepers: Doorkeepers): void => {
  for (const path of new Set(routes.map((route) => route.path))) {
    const ofPath = routes.filter((route) => route.path === path);
    for (const route of ofPath) app[route.method](path, handlerOf(route, doorkeepers));
    const allow = allowOf(ofPath);
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
