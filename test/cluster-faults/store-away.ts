import { readdirSync } from 'node:fs';
import { until } from '../support/until.js';
import { Versitygw } from '../support/versitygw.js';
import { FRAME_MS, pause, type Rig } from './rig.js';
import type { Fault } from './scenario.js';

const AWAY_MS = 60_000;
/** Recordings are copied a minute after they were closed, and a store that was away is tried again by and by. */
const COPIED_WITHIN_MS = 240_000;

const objectsIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.mp4'))
    .join('\n');

/** The store doesn't answer for a minute: what was closed by then is there in the end, of each box. */
export const storeAway = (): Fault => {
  let store: Versitygw | null = null;
  const missing = (closed: readonly string[]): string[] => {
    const objects = objectsIn(store!.folder);
    return closed.filter((name) => !objects.includes(name));
  };
  const closedOf = (rig: Rig): string[] =>
    rig.boxes.flatMap((box) =>
      rig.ids.flatMap((id) =>
        box
          .files(id)
          .filter((name) => !name.includes('_ongoing'))
          .map((name) => name.replace(/\.mp4$/, '')),
      ),
    );
  let closed: readonly string[] = [];
  return {
    name: 's3',
    what: `the store doesn't answer for ${AWAY_MS / 1_000} s`,
    env: async (ends, network) => {
      store = await Versitygw.start(ends, 'recordings', network.ownAddress);
      return { ARCHIVE_S3: store.url(), RECORD_FILE_SECONDS: '10' };
    },
    happen: async (rig) => {
      await store!.kill();
      await pause(AWAY_MS);
      closed = closedOf(rig);
      await store!.start();
    },
    mostUnrecordedMs: 2 * FRAME_MS,
    mostViewerGapMs: 2_000,
    check: async () => {
      try {
        await until('all is in the store', () => missing(closed).length === 0 || pause(1_000), {
          deadlineMs: COPIED_WITHIN_MS,
        });
        return null;
      } catch {
        const left = missing(closed);
        return `of ${closed.length} recordings ${left.length} are not in the store, ${left[0]}`;
      }
    },
  };
};
