import { z } from 'zod';
import { eventTypes } from '../events/kept/event.js';
import { occurrenceTypes } from '../notify/occurrence.js';
import { isSecret } from '../notify/webhooks/signature.js';
import { isWebhookUrl } from '../notify/webhooks/webhook-url.js';
import { idSchema } from './schemas.js';

const MAX_NAMED = 256;
const MAX_LABEL = 256;

const secretSchema = z
  .string()
  .max(128)
  .refine(isSecret, 'must be "whsec_" and the base64 of 24 to 64 bytes');

/** What of a webhook its maker says. */
const madeShape = {
  name: z.string().min(1).max(128),
  url: z
    .string()
    .max(2_048)
    .refine(isWebhookUrl, 'must be an http or https address')
    .describe('shown with *** in the place of its password, which stands for it when it is sent back'),
  enabled: z
    .boolean()
    .describe('while it is false nothing is collected; a receiver that answers 410 makes it so'),
  types: z.array(z.enum(eventTypes)).max(MAX_NAMED).describe('of events; empty: all'),
  camera_ids: z
    .array(idSchema)
    .max(MAX_NAMED)
    .describe('empty: all; what is about no camera is told of whichever are named'),
  labels: z
    .array(z.string().min(1).max(MAX_LABEL))
    .max(MAX_NAMED)
    .describe('what was seen; empty: all; events without a label are told of whichever are named'),
};

/** A webhook as a backup holds it. */
export const storedWebhookSchema = z
  .strictObject({ id: idSchema, ...madeShape, secret: secretSchema })
  .meta({ id: 'StoredWebhook' });

const shownShape = {
  id: idSchema,
  ...madeShape,
  waiting: z.int().describe('messages that are yet to be sent'),
  dropped: z.int().describe('messages that were given up: too many, too old, or it was switched off'),
  failures: z.int().describe('attempts in a row that it did not take'),
  last: z
    .strictObject({
      at: z.iso.datetime(),
      status: z.int().nullable().describe('of HTTP; null: there was no answer'),
      detail: z.string(),
      duration_ms: z.int(),
    })
    .nullable()
    .describe('what came of the last attempt; null: there was none'),
};

/** A webhook as it is shown. */
export const webhookSchema = z.strictObject(shownShape).meta({ id: 'Webhook' });

/** A webhook that was just made. */
export const madeWebhookSchema = z
  .strictObject({
    ...shownShape,
    secret: secretSchema.describe('shown this once: messages are signed with it'),
  })
  .meta({ id: 'MadeWebhook' });

export const webhookSecretSchema = z.strictObject({ secret: secretSchema }).meta({ id: 'WebhookSecret' });

export const newWebhookSchema = z
  .strictObject({
    name: madeShape.name,
    url: madeShape.url,
    enabled: madeShape.enabled.default(true),
    types: madeShape.types.default([]),
    camera_ids: madeShape.camera_ids.default([]),
    labels: madeShape.labels.default([]),
    secret: secretSchema.optional().describe('made where there is none'),
  })
  .meta({ id: 'NewWebhook' });

/** What is changed of a webhook; what else of it was shown may be sent along. */
export const webhookChangesSchema = z
  .strictObject({ ...shownShape, secret: secretSchema })
  .partial()
  .meta({ id: 'WebhookChanges' });

export const webhookTestSchema = z
  .strictObject({
    ok: z.boolean(),
    status: z.int().nullable().describe('of HTTP; null: there was no answer'),
    detail: z.string().describe('what came of it, in words'),
    answer: z.string().describe('the beginning of the text that the receiver answered'),
    duration_ms: z.int(),
  })
  .meta({ id: 'WebhookTest' });

/** What a receiver is sent, signed as Standard Webhooks has it. */
export const webhookMessageSchema = z
  .union([
    z.strictObject({
      type: z.enum(occurrenceTypes),
      timestamp: z.iso.datetime().describe('when it happened'),
      sequence: z
        .int()
        .describe(
          'one more with each message for this receiver: what is missing is on its way yet, or was given up',
        ),
      data: z.strictObject({
        id: z.string().describe('of the event: the same when it began and when it ended'),
        camera_id: z.string().describe('empty: it is about no camera'),
        type: z.enum(eventTypes),
        label: z.string(),
        score: z.number().nullable(),
        from: z.iso.datetime(),
        to: z.iso.datetime().nullable(),
        detail: z.string(),
      }),
    }),
    z.strictObject({
      type: z.literal('test'),
      timestamp: z.iso.datetime(),
      data: z.strictObject({ webhook: z.string() }),
    }),
  ])
  .meta({ id: 'WebhookMessage' });
