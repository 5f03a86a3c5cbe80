import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { SeenCall } from './test-app.js';

export type Operation = {
  readonly description?: string;
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, object>> };
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, object>> }>>;
};

/** What of an OpenAPI document tests look into. */
export type Document = { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

/** All operations: method, path as in the document, and what it says. */
export const operationsOf = (document: Document): [method: string, path: string, operation: Operation][] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, string, Operation] => [
      method.toUpperCase(),
      path,
      operation,
    ]),
  );

/** Whether an operation belongs to a camera's streams: open, unless the camera asks for a token. */
export const isWatching = ({ security }: Operation): boolean =>
  security.some((scheme) => Object.keys(scheme).length === 0);

/** Whether some roles may use an operation and others not. */
export const isForSomeRoles = ({ description = '' }: Operation): boolean =>
  description.startsWith('Roles: ') && description !== 'Roles: viewer, operator, admin, service.';

/** The documented path that a called one belongs to; the first that fits, as in the service. */
const templateOf = (document: Document, called: string): string | undefined => {
  const path = called.split('?')[0]!;
  const fits = (template: string): boolean =>
    new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{[a-z_]+\}/g, '[^/]+')}$`).test(path);
  return Object.keys(document.paths).find(fits);
};

/** A key that is none, another one for each number. */
export const wrongKey = (number: number): string => `framering_${String(number).padStart(64, '0')}`;

const pointer = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * Asserts that every answer is what the document says; returns the documented answers that were not among them,
 * as `GET /path 200`. A 101 is no answer that an HTTP client could show.
 */
export const checkAnswers = (document: Document, calls: readonly SeenCall[]): string[] => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema(document, 'openapi');
  const seen = new Set<string>();
  for (const { method, path, answer } of calls) {
    const template = templateOf(document, path);
    assert.ok(template, path);
    const operation = document.paths[template]?.[method.toLowerCase()];
    const documented = operation?.responses[String(answer.status)];
    assert.ok(documented, `${method} ${template} answered ${answer.status}, which is not documented`);
    seen.add(`${method} ${template} ${answer.status}`);
    const type = (answer.headers.get('content-type') ?? '').split(';')[0]!;
    assert.ok(
      type === '' || type in (documented.content ?? {}),
      `${method} ${template} ${answer.status} is ${type}`,
    );
    if (answer.body === null) continue;
    const place = `paths/${pointer(template)}/${method.toLowerCase()}/responses/${answer.status}/content/${pointer(type)}/schema`;
    const validate = ajv.compile({ $ref: `openapi#/${place}` });
    assert.ok(validate(answer.body), `${method} ${template}: ${ajv.errorsText(validate.errors)}`);
  }
  return operationsOf(document)
    .flatMap(([method, path, { responses }]) =>
      Object.keys(responses).map((status) => `${method} ${path} ${status}`),
    )
    .filter((answer) => !seen.has(answer) && !answer.endsWith(' 101'));
};
