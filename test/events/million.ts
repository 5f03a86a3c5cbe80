import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.js';
import { openEventDatabase } from '../../src/events/kept/database.js';
import type { EventType } from '../../src/events/kept/event.js';
import { EventLog } from '../../src/events/kept/event-log.js';
import type { EventFilter } from '../../src/events/kept/event-pages.js';
import { logLines } from '../archive/log-lines.js';

/** How long the first page of any filter takes of a million events: `node dist/test/events/million.js`. */
const EVENTS = 1_000_000;
const BATCH = 50_000;
const CAMERAS = 300;
const START_MS = Date.UTC(2026, 8, 1);
const PERIOD_MS = 7_000;

const typeOf = (id: number): EventType => (id % 10 === 0 ? 'motion' : id % 997 === 0 ? 'rule' : 'detection');

const fill = (path: string): void => {
  const { db, tables } = openEventDatabase(path, { log: logLines().log, nowMs: 0 });
  for (let first = 1; first <= EVENTS; first += BATCH) {
    const batch = Array.from({ length: BATCH }, (_, index) => {
      const id = first + index;
      const [type, fromMs] = [typeOf(id), START_MS + id * PERIOD_MS];
      const label = type === 'detection' ? ['person', 'car', 'dog', 'cat', 'bicycle'][id % 5]! : '';
      const times = { fromMs, toMs: fromMs + 20_000 };
      return {
        id,
        cameraId: `cam-${(id * 7_919) % CAMERAS}`,
        type,
        label,
        score: 0.5,
        ...times,
        isProtected: false,
        detail: '',
      };
    });
    tables.putAll(batch);
  }
  // All but the oldest: what is left to review is as far away as it can be.
  db.exec("INSERT INTO reviews SELECT 'eve', begin_ms, id FROM events WHERE id > 1");
  db.close();
};

const all: EventFilter = {
  ...{ cameraIds: null, types: null, labels: null, isReviewed: null },
  ...{ fromMs: null, toMs: null },
};
const some = new Set(Array.from({ length: 60 }, (_, index) => `cam-${index}`));
const filters: Record<string, EventFilter> = {
  all,
  'one camera': { ...all, cameraIds: new Set(['cam-7']) },
  '60 cameras': { ...all, cameraIds: some },
  'a rare type': { ...all, types: new Set(['rule']) },
  'a label': { ...all, labels: new Set(['dog']) },
  'an hour': { ...all, fromMs: START_MS, toMs: START_MS + 3_600_000 },
  reviewed: { ...all, isReviewed: true },
  'not reviewed': { ...all, isReviewed: false },
  'not reviewed, one camera': { ...all, cameraIds: new Set(['cam-7']), isReviewed: false },
  'not reviewed, a rare type': { ...all, types: new Set(['rule']), isReviewed: false },
};

const folder = mkdtempSync(join(tmpdir(), 'framering-million-'));
try {
  const path = join(folder, 'events.db');
  fill(path);
  console.log(`${EVENTS} events, as many reviews: ${(statSync(path).size / 1e6).toFixed(0)} MB`);
  const events = new EventLog(path, { clock: systemClock, log: logLines().log });
  for (const order of ['newest_first', 'oldest_first'] as const)
    for (const [name, filter] of Object.entries(filters)) {
      const startMs = performance.now();
      const { seen } = events.page(filter, { after: null, limit: 100, order }, 'eve');
      console.log(`${order} ${name}: ${(performance.now() - startMs).toFixed(1)} ms, ${seen.length} events`);
    }
  events.stop();
} finally {
  rmSync(folder, { recursive: true });
}
