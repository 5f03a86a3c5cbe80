import type { NewWebhook, WebhookChanges, WebhookView } from '../../notify/webhooks/webhooks.js';
import { changedNames } from '../changed-names.js';
import { listAnswers, listPage, pageQuery } from '../list.js';
import { withoutAbsent } from '../optional.js';
import { invalidInput } from '../problem.js';
import { type Route, route } from '../route.js';
import { idParams, messageSchema } from '../schemas.js';
import {
  madeWebhookSchema,
  newWebhookSchema,
  webhookChangesSchema,
  webhookSchema,
  webhookSecretSchema,
  webhookTestSchema,
} from '../webhook-schemas.js';

export type WebhookRoutesDeps = {
  readonly webhooks: {
    list(): WebhookView[];
    find(id: string): WebhookView;
    create(webhook: NewWebhook): Promise<WebhookView & { readonly secret: string }>;
    change(
      id: string,
      changes: WebhookChanges,
    ): Promise<{ readonly before: WebhookChanges; readonly after: WebhookChanges }>;
    remove(id: string): Promise<void>;
    renewSecret(id: string): Promise<string>;
    test(
      id: string,
      signal: AbortSignal,
    ): Promise<{
      readonly status: number | null;
      readonly detail: string;
      readonly answer: string;
      readonly durationMs: number;
    }>;
  };
};

const secretAndTest = ({ webhooks }: WebhookRoutesDeps): Route[] => [
  route({
    method: 'post',
    path: '/api/webhooks/:id/secret',
    access: 'webhooks.manage',
    audit: 'renew_webhook_secret',
    summary: 'Another secret from now on, which is shown this once',
    params: idParams,
    answers: { 200: { description: 'The secret', schema: webhookSecretSchema } },
    problems: [404, 503],
    handle: async ({ params }) => ({
      status: 200,
      body: { secret: await webhooks.renewSecret(params.id) },
    }),
  }),
  route({
    method: 'post',
    path: '/api/webhooks/:id/test',
    access: 'webhooks.manage',
    audit: 'test_webhook',
    summary: 'Send a message at once, whatever waits, and tell what the receiver said: 15 s at most',
    params: idParams,
    answers: { 200: { description: 'What came of it', schema: webhookTestSchema } },
    problems: [404, 429],
    handle: async ({ params, onGone }) => {
      const gone = new AbortController();
      onGone(() => gone.abort());
      const { status, detail, answer, durationMs } = await webhooks.test(params.id, gone.signal);
      const isTaken = status !== null && status >= 200 && status < 300;
      return {
        status: 200,
        body: { ok: isTaken, status, detail, answer, duration_ms: Math.round(durationMs) },
      };
    },
  }),
];

/** Programs of others that are told of what happens. */
export const webhookRoutes = ({ webhooks }: WebhookRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/webhooks',
    access: 'webhooks.manage',
    summary: 'All webhooks, with what became of their messages',
    query: pageQuery,
    answers: listAnswers('Webhooks, sorted by id', webhookSchema),
    handle: ({ query }) => listPage('/api/webhooks', webhooks.list(), ({ id }) => id, query),
  }),
  route({
    method: 'post',
    path: '/api/webhooks',
    access: 'webhooks.manage',
    audit: 'create_webhook',
    summary: 'Add a webhook; its secret is shown this once',
    body: newWebhookSchema,
    answers: { 201: { description: 'The webhook', schema: madeWebhookSchema } },
    problems: [409, 503],
    handle: async ({ body: { secret = null, ...fields }, note }) => {
      const made = await webhooks.create({ ...fields, secret });
      note({ target: made.id });
      return { status: 201, body: made };
    },
  }),
  route({
    method: 'get',
    path: '/api/webhooks/:id',
    access: 'webhooks.manage',
    summary: 'One webhook',
    params: idParams,
    answers: { 200: { description: 'The webhook', schema: webhookSchema } },
    problems: [404],
    handle: ({ params }) => ({ status: 200, body: webhooks.find(params.id) }),
  }),
  route({
    method: 'put',
    path: '/api/webhooks/:id',
    access: 'webhooks.manage',
    audit: 'update_webhook',
    summary: 'Change the fields that are sent; another address, or switching it on, sends what waits at once',
    params: idParams,
    body: webhookChangesSchema,
    answers: { 200: { description: 'The webhook', schema: webhookSchema } },
    problems: [404, 503],
    handle: async ({ params, body, note }) => {
      const { id, waiting: _, dropped: __, failures: ___, last: ____, ...changes } = body;
      if (id !== undefined && id !== params.id)
        throw invalidInput([{ path: 'id', message: 'the id of a webhook can not be changed' }]);
      const present = withoutAbsent(changes);
      const { before, after } = await webhooks.change(params.id, present);
      note({ target: params.id, fields: changedNames(present, before, after) });
      return { status: 200, body: webhooks.find(params.id) };
    },
  }),
  route({
    method: 'delete',
    path: '/api/webhooks/:id',
    access: 'webhooks.manage',
    audit: 'delete_webhook',
    summary: 'Remove a webhook, and what waits for it',
    params: idParams,
    answers: { 200: { description: 'Done', schema: messageSchema } },
    problems: [404, 503],
    handle: async ({ params }) => {
      await webhooks.remove(params.id);
      return { status: 200, body: { message: 'webhook deleted' } };
    },
  }),
  ...secretAndTest({ webhooks }),
];
