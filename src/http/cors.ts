import type { RequestHandler } from 'express';

const ALLOWED_HEADERS = 'Authorization, Content-Type, If-None-Match, If-Range, Last-Event-ID, Range';
const EXPOSED_HEADERS = 'Accept-Ranges, Content-Range, ETag, Location, Retry-After, X-Request-Id';
const PREFLIGHT_MAX_AGE_SEC = 600;

/**
 * Which pages of other origins may call us: the management interface those that are configured; streams, archive
 * and models any, since no cookie ever speaks for a user. Allowed methods are added where the path is known.
 */
export const createCors = (allowedOrigins: readonly string[]): RequestHandler => {
  const allowed = new Set(allowedOrigins);
  return (request, response, next) => {
    const { origin } = request.headers;
    const isManagement = request.path.startsWith('/api/');
    if (isManagement) {
      response.vary('Origin');
      if (origin === undefined || !allowed.has(origin)) {
        next();
        return;
      }
    } else {
      // helmet's same-origin default would keep a player of another origin from a picture it may have.
      response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    }
    response.setHeader('Access-Control-Allow-Origin', isManagement && origin !== undefined ? origin : '*');
    response.setHeader('Access-Control-Expose-Headers', EXPOSED_HEADERS);
    if (request.method === 'OPTIONS') {
      response.setHeader('Access-Control-Allow-Headers', ALLOWED_HEADERS);
      response.setHeader('Access-Control-Max-Age', PREFLIGHT_MAX_AGE_SEC);
    }
    next();
  };
};
