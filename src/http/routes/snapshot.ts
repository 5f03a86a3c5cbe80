import { z } from 'zod';
import { pictureError } from '../../pictures/errors.js';
import type { Pictures } from '../../pictures/pictures.js';
import { type Route, route } from '../route.js';
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
    answers: {
      200: { description: 'The picture', contentType },
      304: { description: 'The picture that the client has', contentType: null },
    },
    problems: [501, 502],
    handle: async ({ params: { id }, query: { at, stream, width = null }, onGone }) => {
      const gone = new AbortController();
      onGone(() => gone.abort(pictureError('pictures_busy', 'the client did not wait')));
      const { jpeg, etag, takenMs, isSettled } =
        at === undefined
          ? { ...(await pictures.live(sources.sourceOf(id, stream), width, gone.signal)), isSettled: false }
          : await pictures.archived(id, at, width, gone.signal);
      const headers = {
        ETag: etag,
        'Cache-Control': `private, max-age=${isSettled ? 3_600 : 1}`,
        // Up to the millisecond: asked for as `at`, it names this picture again.
        'Picture-Time': new Date(Math.ceil(takenMs)).toISOString(),
      };
      return { status: 200, text: jpeg, contentType, headers };
    },
  }),
];
