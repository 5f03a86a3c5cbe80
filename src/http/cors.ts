import type { RequestHandler } from 'express';

const ALLOWED_HEADERS =
  'Authorization, Content-Type, If-Match, If-None-Match, If-Range, Last-Event-ID, Range';
const EXPOSED_HEADERS =
  'Accept-Ranges, Content-Disposition, Content-Length, Content-Range, ETag, Link, Location, Picture-Time, Retry-After, Service-Time, X-Request-Id';
const PREFLIGHT_MAX_AGE_SEC = 600;

/** Streams, archive and models are for pages of any origin, since no cookie ever speaks for a user. */
const isForAll = (path: string): boolean => /^\/(?:stream|hls|models)\//.test(path);

/**
 * Which pages of other origins may call us. What a browser inside a network can reach of metrics and probes is no
 * business of the pages that it shows. Allowed methods are added where the path is known.
 */
export const createCors = (allowedOrigins: readonly string[]): RequestHandler => {
  const allowed = new Set(allowedOrigins);
  return (request, response, next) => {
    const { origin } = request.headers;
    if (isForAll(request.path)) {
      // helmet's same-origin default would keep a player of another origin from a picture it may have.
      response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
      response.setHeader('Access-Control-Allow-Origin', '*');
    } else {
      response.vary('Origin');
      if (origin === undefined || !allowed.has(origin) || !request.path.startsWith('/api/')) {
        next();
        return;
      }
      response.setHeader('Access-Control-Allow-Origin', origin);
    }
    response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    if (request.method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS);
      response.setHeader('Access-Control-Max-Age', PREFLIGHT_MAX_AGE_SEC);
    }
    next();
  };
};
