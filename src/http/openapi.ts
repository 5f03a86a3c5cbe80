import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Permission } from '../auth/permissions.js';
import { rolePermissionOf, roles, rolesOf, type WatchAccess } from './access.js';
import type { Answer, Route } from './route.js';
import { problemSchema } from './schemas.js';
import { webhookMessageSchema } from './webhook-schemas.js';

type Json = Record<string, unknown>;

/** Collects named schemas, so that each is written once and referred to from everywhere else. */
class Components {
  readonly schemas: Json = {};
  /** Many routes end with the same. */
  readonly #converted = { input: new Map<z.ZodType, Json>(), output: new Map<z.ZodType, Json>() };

  /** `input` shows what may be sent (defaults are optional), `output` what comes back. */
  convert(schema: z.ZodType, io: 'input' | 'output'): Json {
    const known = this.#converted[io].get(schema);
    if (known !== undefined) return known;
    // A named schema at the root would be written out; inside an object it becomes a reference.
    const wrapped = z.toJSONSchema(z.object({ it: schema }), { target: 'draft-2020-12', io });
    const text = JSON.stringify(wrapped).replaceAll('"#/$defs/', '"#/components/schemas/');
    const converted = JSON.parse(text) as { $defs?: Json; properties: { it: Json } };
    for (const [name, definition] of Object.entries(converted.$defs ?? {})) {
      const { id: _, $schema: __, ...body } = definition as Json;
      this.schemas[name] = body;
    }
    this.#converted[io].set(schema, converted.properties.it);
    return converted.properties.it;
  }
}

const problemHeaders: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  426: ['Upgrade'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const headersOf = (names: readonly string[]): Json =>
  names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { schema: { type: 'string' } }])) };

const permissionOf = (route: Route): Permission | null =>
  route.permission === undefined ? rolePermissionOf(route) : route.permission;

/** Statuses of errors that a route can end with: those of its nature, and those that it names. */
export const problemStatusesOf = (route: Route): number[] => {
  const statuses = new Set(route.problems ?? []);
  if (route.params !== undefined || route.query !== undefined) statuses.add(400);
  // RFC 9110, section 15.5.13, and RFC 6585, section 3.
  if (route.isConditional) for (const status of [412, 428]) statuses.add(status);
  if (route.body !== undefined) for (const status of [400, 413, 415]) statuses.add(status);
  const permission = permissionOf(route);
  // Wrong keys may have been too many.
  if (permission !== null) statuses.add(429);
  if (permission !== null || route.access === 'wall') statuses.add(401);
  if (permission !== null && rolesOf(permission).length < roles.length) statuses.add(403);
  // No session; and a page that isn't ours.
  if (route.access === 'session') for (const status of [401, 403]) statuses.add(status);
  // No such camera; and it has no picture, or too many watch.
  if (route.permission !== undefined) for (const status of [404, 503]) statuses.add(status);
  return [...statuses].sort((a, b) => a - b);
};

const successOf = (answer: Answer, components: Components): Json => {
  if (answer.contentType === null) return { description: answer.description };
  const types = [answer.contentType ?? 'application/json'].flat();
  const schema = answer.schema === undefined ? {} : components.convert(answer.schema, 'output');
  const content = Object.fromEntries(types.map((type) => [type, { schema }]));
  return { description: answer.description, content };
};

const problemOf = (status: number, components: Components): Json => ({
  description: STATUS_CODES[status] ?? 'Error',
  ...headersOf(problemHeaders[status] ?? []),
  content: { 'application/problem+json': { schema: components.convert(problemSchema, 'output') } },
});

const responsesOf = (route: Route, components: Components): Json => {
  const successes = Object.entries(route.answers).map(([status, answer]) => [
    status,
    successOf(answer, components),
  ]);
  const problems = problemStatusesOf(route)
    // A probe's own answer may have the status of an error.
    .filter((status) => route.answers[status] === undefined)
    .map((status) => [String(status), problemOf(status, components)]);
  return Object.fromEntries([...successes, ...problems]) as Json;
};

const parametersOf = (
  where: 'path' | 'query',
  schema: z.ZodType | undefined,
  components: Components,
): Json[] => {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = components.convert(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: where,
    required: required.includes(name),
    schema: property,
  }));
};

const sessionDescription =
  'For pages of this very service: their browser sends the cookie that it got when somebody logged in with `remember`.';

/** The schemes that open a stream; the empty one: a camera without `token_auth` is open to all. */
const watchSecurity: Readonly<Record<WatchAccess, readonly Json[]>> = {
  stream: [{}, { bearer: [] }, { streamToken: [] }, { viewingSession: [] }],
  connection: [{}, { bearer: [] }, { streamToken: [] }],
};

const securityOf = (route: Route): Json => {
  if (route.access === 'session') return { description: sessionDescription, security: [{ session: [] }] };
  if (route.access === 'wall')
    return { description: 'Asks for a token of `/api/wall-token`.', security: [{ wallToken: [] }] };
  const permission = permissionOf(route);
  if (permission === null) return { security: [] };
  const allowed = rolesOf(permission).join(', ');
  if (route.permission === undefined)
    return { description: `Roles: ${allowed}.`, security: [{ bearer: [] }] };
  const description = `Open to all unless the camera has token_auth: then a stream token of it, or an access token of the roles ${allowed}.`;
  return { description, security: watchSecurity[route.access] };
};

const ifMatchParameter: Json = {
  name: 'If-Match',
  in: 'header',
  required: true,
  description: 'The ETag of what is to be changed',
  schema: { type: 'string' },
};

const operationOf = (route: Route, components: Components): Json => {
  const parameters = [
    ...parametersOf('path', route.params, components),
    ...parametersOf('query', route.query, components),
    ...(route.isConditional ? [ifMatchParameter] : []),
  ];
  return {
    operationId: `${route.method}${route.path.replaceAll(/[^A-Za-z0-9]+([A-Za-z0-9]?)/g, (_, next: string) => next.toUpperCase())}`,
    summary: route.summary,
    ...securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: {
              [route.bodyType ?? 'application/json']: { schema: components.convert(route.body, 'input') },
            },
          },
        }),
    responses: responsesOf(route, components),
  };
};

const webhookHeader = (name: string, description: string): Json => ({
  ...{ name, description, in: 'header', required: true },
  schema: { type: 'string' },
});

/** What the service sends to others, as opposed to what it is asked. */
const webhooksOf = (components: Components): Json => ({
  event: {
    post: {
      operationId: 'webhookEvent',
      summary: 'An event began or ended; signed as Standard Webhooks 1.0 has it',
      parameters: [
        webhookHeader('webhook-id', 'of the message: the same whenever it comes again'),
        webhookHeader('webhook-timestamp', 'when this attempt was made, in seconds since 1970'),
        webhookHeader(
          'webhook-signature',
          '"v1," and the base64 of the HMAC-SHA256 of id, timestamp and body',
        ),
      ],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: components.convert(webhookMessageSchema, 'output') } },
      },
      responses: {
        '2XX': { description: 'Taken' },
        '410': { description: 'Nothing any more: the webhook is switched off' },
        default: { description: 'Not taken: it comes again, `Retry-After` is heeded' },
      },
    },
  },
});

/** The OpenAPI 3.1 document of declared routes: what is mounted is what is documented. */
export const openApiOf = (routes: readonly Route[], version: string): Json => {
  const components = new Components();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method]: operationOf(route, components) };
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Framering',
      version,
      description: 'Camera streaming and recording service.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    paths,
    webhooks: webhooksOf(components),
    components: {
      schemas: components.schemas,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
        streamToken: { type: 'apiKey', in: 'query', name: 'token' },
        session: { type: 'apiKey', in: 'cookie', name: 'framering_session' },
        wallToken: { type: 'apiKey', in: 'query', name: 'token' },
        viewingSession: { type: 'apiKey', in: 'query', name: 'session' },
      },
    },
  };
};
