import assert from 'node:assert/strict';
import { pictureError } from '../../src/pictures/errors.js';
import type { startFakeOutputs } from './contract-fakes.js';

const refusals = [
  ['ffmpeg_missing', 501],
  ['picture_undecodable', 502],
  ['pictures_busy', 503],
] as const;

/** Pictures of a camera, live and recorded, and why there is none. */
export const callPictures = async ({
  server,
  pictures,
}: Awaited<ReturnType<typeof startFakeOutputs>>): Promise<void> => {
  for (const name of ['snapshot.jpg', 'archive/thumbnail.jpg?at=2026-11-21']) {
    const path = `/api/cameras/open/${name}`;
    pictures.refusal = null;
    const { status, headers } = await server.call('GET', path);
    assert.deepEqual([status, headers.get('content-type')], [200, 'image/jpeg']);
    const known = { 'if-none-match': headers.get('etag') ?? '' };
    assert.equal((await server.call('GET', path, { headers: known })).status, 304);
    for (const [code, refusal] of refusals) {
      pictures.refusal = pictureError(code, 'refused');
      assert.equal((await server.call('GET', path)).status, refusal);
    }
  }
};
