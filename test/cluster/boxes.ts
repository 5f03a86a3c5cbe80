import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { clusterAddressOf } from '../../src/base/cluster-address.js';
import { createLogger } from '../../src/base/log.js';
import { Cluster, type ClusterOptions } from '../../src/cluster/cluster.js';
import type { Claims } from '../../src/cluster/owners/claims.js';
import type { SharedEffects } from '../../src/store/shared/shared-records.js';
import { Store } from '../../src/store/store.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

export const SECRET = 'a secret that all boxes of the cluster have';
export const STREAM = 'KV_framering-test-settings';
/** Of what is kept there, before its name. */
export const PREFIX = '$KV.framering-test-settings.';

export const admin = { username: 'root', password_hash: 'h', role: 'admin' } as const;
export const withAdmin = (store: Store): void => void store.users.create(admin);

export type Box = {
  readonly store: Store;
  readonly cluster: Cluster;
  readonly lines: readonly string[];
  readonly effects: readonly SharedEffects[];
  readonly folder: string;
  /** Ends it, and starts another one over the same files. */
  again(url?: string): Promise<Box>;
  stop(): Promise<void>;
};

/** A box without cameras: its store, and the cluster that it joins. `prepare` is what it had before. */
export const startBox = async (
  t: TestContext,
  url: string,
  prepare: (store: Store) => void = () => {},
  options: Partial<ClusterOptions> = {},
  folder = tempFolder(t),
): Promise<Box> => {
  const store = new Store(join(folder, 'framering.db'));
  prepare(store);
  const lines: string[] = [];
  const log = createLogger((level, message, fields) =>
    lines.push(JSON.stringify({ level, message, ...fields })),
  );
  const address = clusterAddressOf(url)!;
  const cluster = await Cluster.start(
    {
      ...{ address, ca: null, login: null, boxName: 'box', clusterName: 'test', secret: SECRET },
      ...{ dataDir: folder, capacity: 1, boxAddress: null, lostMs: 1_500 },
      ...options,
    },
    { clock: systemClock, log, store },
  ).catch((fault) => {
    store.close();
    throw fault;
  });
  const effects: SharedEffects[] = [];
  cluster.changed.on((effect) => effects.push(effect));
  let isStopped = false;
  const stop = async (): Promise<void> => {
    if (isStopped) return;
    isStopped = true;
    await cluster.stop();
    store.close();
  };
  t.after(stop);
  return {
    ...{ store, cluster, lines, effects, folder, stop },
    again: async (nextUrl = url) => {
      await stop();
      return startBox(t, nextUrl, () => {}, options, folder);
    },
  };
};

/**
 * Claims "cam", again where servers were too slow, and answers by which epoch: `expected`, or a later one where what wasn't
 * answered may have been made.
 */
export const claimed = async (claims: Claims, atLeast: number, expected: number): Promise<number> => {
  let isInDoubt = false;
  const epoch = await until('it is claimed', () =>
    claims.claim('cam', { box: 'one', boot: 'first' }, atLeast).then(
      // Nobody else is there who could have been first.
      (made) => made ?? (isInDoubt ? null : 0),
      () => {
        isInDoubt = true;
        return null;
      },
    ),
  );
  assert.ok(isInDoubt ? epoch >= expected : epoch === expected, `${epoch} in the place of ${expected}`);
  return epoch;
};

/** Asks for a change again where it was refused because too much was going on, as whoever makes it would. */
export const insist = async (change: () => Promise<unknown>): Promise<void> => {
  await until('it is made', () =>
    change().then(
      () => true,
      (fault: { code: string }) => {
        // It was made, and the answer was lost.
        if (['exists', 'not_found'].includes(fault.code)) return true;
        if (fault.code !== 'cluster_unavailable') throw fault;
        return false;
      },
    ),
  );
};
