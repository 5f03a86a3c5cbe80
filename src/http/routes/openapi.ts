import { createHash } from 'node:crypto';
import { openApiOf } from '../openapi.js';
import { PAGE_POLICY } from '../pages.js';
import { referenceOf } from '../reference/page.js';
import { type Route, route } from '../route.js';

/**
 * All routes, the document that describes them and itself, and the same as a page. Both are made for whoever asks first: that takes a
 * tenth of a second, which a start has better use for.
 */
export const withOpenApi = (routes: readonly Route[], version: string): Route[] => {
  let made: string | null = null;
  const text = (): string => {
    made ??= JSON.stringify(openApiOf(all, version));
    return made;
  };
  let page: { readonly text: string; readonly etag: string } | null = null;
  const document = route({
    method: 'get',
    path: '/api/openapi.json',
    access: 'public',
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1' } },
    handle: () => ({ status: 200, text: text(), contentType: 'application/json; charset=utf-8' }),
  });
  const pageOf = () => {
    const html = referenceOf(JSON.parse(text()));
    const etag = `"${createHash('sha256').update(html).digest('base64url').slice(0, 22)}"`;
    return { text: html, etag };
  };
  const reference = route({
    method: 'get',
    path: '/api/docs',
    access: 'public',
    summary: 'This document as a page',
    answers: { 200: { description: 'A page', contentType: 'text/html' } },
    handle: () => {
      page ??= pageOf();
      const headers = {
        ETag: page.etag,
        'Cache-Control': 'no-cache',
        'Content-Security-Policy': PAGE_POLICY,
      };
      return { status: 200, text: page.text, contentType: 'text/html; charset=utf-8', headers };
    },
  });
  const all = [...routes, document, reference];
  return all;
};
