import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { EventType, KeptEvent } from '../../src/events/kept/event.js';
import { EventLog } from '../../src/events/kept/event-log.js';
import type { EventFilter } from '../../src/events/kept/event-pages.js';
import { logLines } from '../archive/log-lines.js';
import { FakeClock } from '../support/fake-clock.js';
import { seededRandom } from '../support/seeded-random.js';
import { tempFolder } from '../support/temp-folder.js';

export const all: EventFilter = {
  ...{ cameraIds: null, types: null, labels: null },
  ...{ isReviewed: null, fromMs: null, toMs: null },
};

export const open = (t: TestContext, folder = tempFolder(t)) => {
  const clock = new FakeClock();
  const { log, lines } = logLines();
  const events = new EventLog(join(folder, 'events.db'), { clock, log });
  t.after(() => events.stop());
  return { clock, events, folder, lines };
};

export const ids = (events: EventLog, filter: Partial<EventFilter> = {}, username = 'eve'): number[] =>
  events
    .page({ ...all, ...filter }, { after: null, limit: 1_000 }, username)
    .seen.map(({ event }) => event.id);

/** Events of all kinds, many of which began at the same time. */
export const manyEvents = (events: EventLog, fromMs: number): KeptEvent[] => {
  const random = seededRandom(7);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const types: readonly EventType[] = ['camera_lost', 'detection', 'detection', 'detection'];
  return Array.from({ length: 600 }, () => {
    const type = pick(types);
    const label = type === 'detection' ? pick(['person', 'car', 'dog']) : '';
    const cameraId = pick(['a', 'b', 'c', 'd', 'e']);
    return events.add({ cameraId, type, label, fromMs: fromMs + Math.floor(random() * 300) });
  });
};
