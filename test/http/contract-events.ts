import assert from 'node:assert/strict';
import { AppError } from '../../src/base/errors.js';
import { pictureError } from '../../src/pictures/errors.js';
import { EVENT_ID, type startFakeOutputs } from './contract-fakes.js';

type Fakes = Pick<Awaited<ReturnType<typeof startFakeOutputs>>, 'server' | 'events' | 'pictures'>;

/** Asks for the one event that there is, and for what isn't there. */
export const callEvents = async ({ server, events, pictures }: Fakes): Promise<void> => {
  const token = server.accessToken('boss');
  const ask = async (method: string, path: string, body?: object, headers = {}) =>
    (await server.call(method, `/api/events${path}`, { token, headers, ...(body && { body }) })).status;
  const all = () => [
    ask('GET', ''),
    ask('POST', '/reviewed', { ids: [EVENT_ID] }),
    ask('GET', `/${EVENT_ID}`),
    ask('PUT', `/${EVENT_ID}`, { protected: false }),
    ask('GET', `/${EVENT_ID}/thumbnail.jpg`),
  ];
  pictures.refusal = null;
  assert.deepEqual(await Promise.all(all()), [200, 200, 200, 200, 200]);
  const known = { 'if-none-match': '"p"' };
  assert.equal(await ask('GET', `/${EVENT_ID}/thumbnail.jpg`, undefined, known), 304);
  pictures.isThere = false;
  assert.equal(await ask('GET', `/${EVENT_ID}/thumbnail.jpg`), 204);
  pictures.isThere = true;
  assert.equal(await ask('PUT', `/${EVENT_ID}`, { protected: true }), 409);
  for (const [method, path, body] of [
    ['GET', '/none'],
    ['PUT', '/none', { protected: true }],
    ['GET', '/none/thumbnail.jpg'],
  ] as const)
    assert.equal(await ask(method, path, body), 404);
  for (const [code, refusal] of [
    ['ffmpeg_missing', 501],
    ['picture_undecodable', 502],
  ] as const) {
    pictures.refusal = pictureError(code, 'refused');
    assert.equal(await ask('GET', `/${EVENT_ID}/thumbnail.jpg`), refusal);
  }
  events.refusal = new AppError('database_unavailable', 'no disk');
  assert.deepEqual(await Promise.all(all()), [503, 503, 503, 503, 503]);
};
