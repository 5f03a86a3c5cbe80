import { openApiOf } from '../openapi.js';
import { type Route, route } from '../route.js';

/** All routes, and the document that describes them and itself. */
export const withOpenApi = (routes: readonly Route[], version: string): Route[] => {
  let text = '';
  const document = route({
    method: 'get',
    path: '/api/openapi.json',
    access: 'public',
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1' } },
    handle: () => ({ status: 200, text, contentType: 'application/json; charset=utf-8' }),
  });
  const all = [...routes, document];
  text = JSON.stringify(openApiOf(all, version));
  return all;
};
