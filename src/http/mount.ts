import type { Express, Request, RequestHandler, Response } from 'express';
import { z } from 'zod';
import { authorize, type TokenVerifier } from './access.js';
import { createBodyReader, DEFAULT_BODY_LIMIT_BYTES } from './body.js';
import { httpError } from './problem.js';
import type { Reply, Route } from './route.js';
import { validate } from './validate.js';

const nothing = z.unknown();

/** Sends what a handler answered. Node leaves the body out for HEAD. */
const send = async (reply: Reply, request: Request, response: Response): Promise<void> => {
  if ('write' in reply) {
    await reply.write(request, response);
    return;
  }
  const content = 'text' in reply ? reply.text : JSON.stringify(reply.body);
  response.statusCode = reply.status;
  response.setHeader('Content-Type', 'text' in reply ? reply.contentType : 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(content));
  response.setHeader('Cache-Control', 'no-store');
  response.end(content);
};

/** Who may, then what is sent, then whether it fits: nobody makes us read a body who may not send one. */
const handlerOf = (route: Route, tokens: TokenVerifier): RequestHandler => {
  const readBody = createBodyReader(route.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES);
  return async (request, response) => {
    response.locals['route'] = route.path;
    const principal = route.access === 'public' ? null : authorize(tokens, request, route.access);
    const body = route.body === undefined ? undefined : await readBody(request, response);
    const call = {
      params: validate(route.params ?? nothing, request.params),
      query: validate(route.query ?? nothing, request.query),
      body: validate(route.body ?? nothing, body, route.furtherFaults),
      principal,
      clientAddress: request.ip ?? '',
    };
    await send(await route.handle(call), request, response);
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
export const mountRoutes = (app: Express, routes: readonly Route[], tokens: TokenVerifier): void => {
  for (const path of new Set(routes.map((route) => route.path))) {
    const ofPath = routes.filter((route) => route.path === path);
    for (const route of ofPath) app[route.method](path, handlerOf(route, tokens));
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
