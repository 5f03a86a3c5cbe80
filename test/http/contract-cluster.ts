import assert from 'node:assert/strict';
import { AppError } from '../../src/base/errors.js';
import type { ClusterRoutesDeps } from '../../src/http/routes/cluster.js';
import type { startFakeOutputs } from './contract-fakes.js';

/** A box that is here, and one that is lost. */
export const fakeCluster: ClusterRoutesDeps = {
  cluster: () => ({
    ...{
      box: 'here',
      is_alone: false,
      fault: '',
      has_majority: true,
      cameras_unowned: 0,
      cameras_doubled: 0,
    },
    awaited: ['past'],
    boxes: [
      {
        ...{ name: 'here', state: 'here', since_sec: 1, address: '', version: '1', capacity: 1, load: 0.5 },
        ...{ cameras: 2, clock_ahead_sec: 0, s3: { up: true, waiting: 1, oldest_sec: 60 }, hears: [] },
      },
    ],
  }),
  forget: async (name) => {
    if (name === 'here') throw new AppError('box_here', 'it is here');
    return ['deaf'];
  },
};

/** Says of both that they are gone for good. */
export const callCluster = async ({
  server,
}: Pick<Awaited<ReturnType<typeof startFakeOutputs>>, 'server'>): Promise<void> => {
  const token = server.accessToken('boss');
  const ask = (method: string, path: string) => server.call(method, `/api/cluster${path}`, { token });
  assert.equal((await ask('GET', '')).status, 200);
  assert.equal((await ask('DELETE', '/boxes/here')).status, 409);
  const gone = await ask('DELETE', '/boxes/lost');
  assert.deepEqual([gone.status, gone.body.untold], [200, ['deaf']]);
};
