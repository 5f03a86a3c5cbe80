import { z } from 'zod';
import { pictureError } from '../../pictures/errors.js';
import type { Picture } from '../../pictures/picture.js';
import type { Pictures } from '../../pictures/pictures.js';
import { type Reply, type Route, route } from '../route.js';
import { idParams, type StreamSources, streamQuery } from '../schemas.js';
import { instantSchema } from '../time-range.js';

const contentType = 'image/jpeg';
const MIN_WIDTH = 16;
const MAX_WIDTH = 3_840;

const widthSchema = z.coerce
  .number()
  .int()
  .min(MIN_WIDTH)
  .max(MAX_WIDTH)
  .meta({ description: 'at most so many pixels wide; where nothing is said, as wide as it is shown' });

/** What of pictures the route uses. */
export type PictureSource = Pick<Pictures, 'live' | 'archived'>;

const pictureAnswers = {
  200: { description: 'The picture', contentType },
  304: { description: 'The picture that the client has', contentType: null },
} as const;

/** Made for as long as the client waits. */
export const pictureReply = async (
  onGone: (listener: () => void) => void,
  make: (signal: AbortSignal) => Promise<Picture & { readonly isSettled: boolean }>,
): Promise<Reply> => {
  const gone = new AbortController();
  onGone(() => gone.abort(pictureError('pictures_busy', 'the client did not wait')));
  const { jpeg, etag, takenMs, isSettled } = await make(gone.signal);
  const headers = {
    ETag: etag,
    'Cache-Control': `private, max-age=${isSettled ? 3_600 : 1}`,
    // Up to the millisecond: asked for as `at`, it names this picture again.
    'Picture-Time': new Date(Math.ceil(takenMs)).toISOString(),
  };
  return { status: 200, text: jpeg, contentType, headers };
};

/** One picture of a camera. */
export const snapshotRoutes = ({
  pictures,
  sources,
}: {
  readonly pictures: PictureSource;
  readonly sources: StreamSources;
}): Route[] => [
  route({
    method: 'get',
    path: '/api/cameras/:id/snapshot.jpg',
    access: 'stream',
    permission: 'live.watch',
    permissionWith: { at: 'archive.read' },
    summary:
      'The newest keyframe as JPEG, or the last one recorded until a moment; Picture-Time says when it was taken',
    params: idParams,
    query: streamQuery.extend({ at: instantSchema.optional(), width: widthSchema.optional() }),
    answers: pictureAnswers,
    problems: [501, 502],
    handle: ({ params: { id }, query: { at, stream, width = null }, onGone }) =>
      pictureReply(onGone, async (signal) =>
        at === undefined
          ? { ...(await pictures.live(sources.sourceOf(id, stream), width, signal)), isSettled: false }
          : pictures.archived(id, at, width, signal),
      ),
  }),
  route({
    method: 'get',
    path: '/api/cameras/:id/archive/thumbnail.jpg',
    access: 'stream',
    permission: 'archive.read',
    summary:
      'The keyframe that was recorded at a moment, or the last one before, as JPEG; Picture-Time says when it was taken',
    params: idParams,
    query: z.object({ at: instantSchema, width: widthSchema.optional() }),
    answers: pictureAnswers,
    problems: [501, 502],
    handle: ({ params: { id }, query: { at, width = null }, onGone }) =>
      pictureReply(onGone, (signal) => pictures.archived(id, at, width, signal)),
  }),
];
