import { z } from 'zod';
import { may } from '../../auth/permissions.js';
import { isSurelySeen, type Sight } from '../../auth/sight.js';
import type { Clock } from '../../base/clock.js';
import { type EventHub, type HubEvent, type Topic, topics } from '../../events/event-hub.js';
import { EventStream } from '../../events/event-stream.js';
import { type Route, route } from '../route.js';
import { idSchema } from '../schemas.js';
import type { ServerSentStreams } from '../server-sent.js';

const isTopic = (text: string): text is Topic => (topics as readonly string[]).includes(text);

const topicsSchema = z
  .string()
  .max(64)
  .transform((text, context) => {
    const named = text.split(',');
    if (named.every(isTopic)) return new Set<Topic>(named);
    context.addIssue({ code: 'custom', message: `must be one or several of ${topics.join(',')}` });
    return z.NEVER;
  })
  .meta({ description: `one or several of ${topics.join(', ')}, separated by commas; all if absent` });

const filterSchema = z.object({ topic: topicsSchema.optional(), camera_id: idSchema.optional() });

export type EventRoutesDeps = {
  readonly hub: EventHub;
  readonly streams: ServerSentStreams;
  readonly clock: Clock;
};

const headerOf = (header: string | string[] | undefined): string | null =>
  typeof header === 'string' ? header : null;

/**
 * Whether it is about what somebody sees. Whoever is limited is told to look anew where folders changed, so that no event
 * tells of others that are beside or above.
 */
export const isInSight = ({ topic, id, cameraId }: HubEvent, sight: Sight): boolean => {
  if (!sight.isLimited) return true;
  if (cameraId !== null) return isSurelySeen(() => sight.seesCamera(cameraId));
  if (topic === 'storage') return true;
  const [, tagId] = /^tags\/(.*)$/.exec(id) ?? [];
  return topic === 'config' && tagId !== undefined && isSurelySeen(() => sight.seesTag(tagId));
};

/** What happens in the service, as it happens. */
export const eventRoutes = ({ hub, streams, clock }: EventRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/events/stream',
    access: 'events.read',
    summary:
      'Changes as server-sent events: `reset` (look at everything anew, then take what comes), then `{topic, id, set}` ' +
      'with the fields that have other values now, each for whoever may read the same by GET; `Last-Event-ID` resumes',
    query: filterSchema,
    answers: {
      200: { description: 'Events without a name, and `reset`', contentType: 'text/event-stream' },
    },
    handle: ({ query: { topic, camera_id: cameraId }, principal, sight }) => {
      const isWanted = (event: HubEvent): boolean =>
        may(principal, event.needs) &&
        isInSight(event, sight) &&
        (topic === undefined || topic.has(event.topic)) &&
        (cameraId === undefined || event.cameraId === cameraId);
      return streams.reply(principal, ({ headers }, sink) => {
        const lastEventId = headerOf(headers['last-event-id']);
        return new EventStream(
          { isWanted, lastEventId, sightRevision: () => sight.revision },
          { hub, sink, clock },
        );
      });
    },
  }),
];
