import { z } from 'zod';
import type { Viewers } from '../../../auth/viewers.js';
import { clientNetwork } from '../../../base/client-address.js';
import type { Clock } from '../../../base/clock.js';
import { type FrameReading, sendFrames } from '../../frames-response.js';
import { invalidInput } from '../../problem.js';
import { type Route, route } from '../../route.js';
import { idParams } from '../../schemas.js';
import { instantSchema, rangeOf, type TimeRange } from '../../time-range.js';
import { whileAllowed } from '../../while-allowed.js';
import { MAX_PLAYED_DAYS } from './recording-name.js';

/** What frames are wanted: those of a time, or those up to a moment from the keyframe before it on. */
export type FramesWanted =
  | (TimeRange & {
      readonly keysOnly: boolean;
      readonly everyMs: number | null;
      readonly isBackwards: boolean;
    })
  | { readonly atMs: number; readonly keysOnly: boolean };

/** Recordings frame by frame. */
export type RecordedFrames = {
  /** `viewer` is whoever may have no more than his share of them at once. */
  frames(cameraId: string, wanted: FramesWanted, viewer: string): Promise<FrameReading>;
};

export type FramesRouteDeps = {
  readonly clock: Clock;
  readonly frames: RecordedFrames;
  readonly viewers: Pick<Viewers, 'takePlace'>;
};

const framesQuery = z.object({
  from: instantSchema.optional(),
  to: instantSchema.optional(),
  at: instantSchema.optional(),
  kind: z.enum(['all', 'key']).optional().meta({ description: 'whole GOPs, or keyframes alone' }),
  every_ms: z.coerce.number().int().min(1).max(86_400_000).optional().meta({
    description: 'of keyframes those at or before each such step from `from` on, none twice',
  }),
  order: z.enum(['forward', 'back']).optional().meta({
    description: '`back`: the newest GOP first, each of them as it is decoded',
  }),
});

const refuse = (path: string, message: string): never => {
  throw invalidInput([{ path, message }]);
};

const wantedOf = (query: z.infer<typeof framesQuery>, nowMs: number): FramesWanted => {
  const { from, to, at, kind, every_ms: everyMs = null, order } = query;
  if (everyMs !== null && kind === 'all') refuse('every_ms', 'goes with keyframes alone');
  const keysOnly = kind === 'key' || everyMs !== null;
  if (at !== undefined) {
    const isAlone = from === undefined && to === undefined && everyMs === null && order === undefined;
    return isAlone ? { atMs: at, keysOnly } : refuse('at', 'goes with "kind" alone');
  }
  if (from === undefined || to === undefined)
    return refuse('from', 'either "from" and "to" are needed, or "at"');
  const range = rangeOf({ from, to }, nowMs, MAX_PLAYED_DAYS);
  return { ...range, keysOnly, everyMs, isBackwards: order === 'back' };
};

/** What a page decodes itself: scrubbing, single steps, backwards, several cameras in step. */
export const framesRoute = ({ clock, frames, viewers }: FramesRouteDeps): Route => {
  const contentType = 'application/octet-stream';
  return route({
    method: 'get',
    path: '/stream/archive/:id/frames',
    access: 'stream',
    permission: 'archive.read',
    summary:
      'The frames of a time, a day at most, or of a moment: messages, each behind its length as 32 bits',
    params: idParams,
    query: framesQuery,
    answers: { 200: { description: 'Messages, as src/wire/README.md has them', contentType } },
    handle: ({ params: { id }, query, viewing: { username }, clientAddress }) => {
      const wanted = wantedOf(query, clock.wallMs());
      return {
        write: async (_request, response) => {
          await whileAllowed(viewers, id, username, response, async () => {
            const reading = await frames.frames(id, wanted, username ?? clientNetwork(clientAddress));
            await sendFrames(reading, response);
          });
        },
      };
    },
  });
};
