import type { TestContext } from 'node:test';
import { Archive } from '../../../src/archive/archive.js';
import { systemClock } from '../../../src/base/clock.js';
import { s3AddressOf } from '../../../src/base/s3-address.js';
import { tempFolder } from '../../support/temp-folder.js';
import { logLines } from '../log-lines.js';
import { noEvents } from '../no-events.js';
import { nobodyWrites } from '../nobody-writes.js';
import { alwaysThere, openedRoot } from '../opened-root.js';
import type { CopierRig } from './copier-rig.js';

/** The archive as the service has it, on a rig's folders; its copier begins with it. */
export const archiveOf = (t: TestContext, rig: CopierRig, hasStore: boolean): Archive => {
  const address = s3AddressOf(rig.store.url())!;
  const store = { address, ca: null, copiesDir: rig.copiesDir, mbit: null, localDays: 1 };
  const archive = new Archive(
    {
      ...{ archiveDir: rig.archiveDir, factsDir: tempFolder(t), storesDir: tempFolder(t), minFreePercent: 0 },
      box: 'box',
      store: hasStore ? store : null,
    },
    {
      clock: systemClock,
      log: logLines().log,
      root: { ...alwaysThere, state: openedRoot(rig.archiveDir) },
      threads: { add: () => () => {} },
      live: nobodyWrites,
      epochsOf: () => () => 0,
      rules: () => [],
      hold: () => ({ release: () => {} }),
      whyNot: () => null,
      memory: { lastMs: () => null, remember: () => {}, eras: () => null, rememberEras: () => {} },
      onGone: () => {},
      cueText: ({ objects }) => objects.map(({ label }) => label).join(' '),
      byEvents: noEvents,
      others: null,
    },
  );
  t.after(() => archive.stop());
  return archive;
};
