import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Watched } from '../../../src/archive/keep/blind-times.js';
import type { ProtectedSpan } from '../../../src/archive/keep/delete-files.js';
import { EventRecording } from '../../../src/archive/keep/event-recording.js';
import type { EventTimes } from '../../../src/archive/keep/kept-spans.js';
import { coverageOf } from '../../../src/archive/list/intervals.js';
import { Recordings } from '../../../src/archive/list/recordings.js';
import { decodedHashes } from '../../fmp4/ffmpeg.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';
import { SECONDS, START_MS, type TwoMinutes } from './two-minutes.js';

export const MINUTE_MS = 60_000;

export type Event = EventTimes['events'][number];

/** An event that begins and ends so many seconds after the start. */
export const event = (fromSec: number, toSec: number | null): Event => ({
  fromMs: START_MS + fromSec * 1_000,
  toMs: toSec === null ? null : START_MS + toSec * 1_000,
});

export const always: Watched = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

/** What is there is two minutes old, and more: nothing of it is too new to be decided on. */
export const NOW_MS = START_MS + SECONDS * 1_000 + MINUTE_MS + 2_000;

/** What an earlier service remembered: up to when it decided, and until when it saw all that there was to see. */
export const rememberedOf = (decidedMs: number, seenMs = NOW_MS): string =>
  JSON.stringify({ door: { times: [decidedMs], seen: seenMs } });

/** An archive with two minutes of a camera, and what is known of them. */
export const setUpEvents = (
  t: TestContext,
  filmed: TwoMinutes,
  events: Event[] | null,
  stored: string | null = rememberedOf(START_MS),
) => {
  const archiveDir = tempFolder(t);
  const folder = join(archiveDir, 'door');
  filmed.copyTo(folder);
  const clock = new FakeClock(NOW_MS);
  const state = {
    ...{ events, sinceMs: 0, isLasting: true, watched: always as Watched, cameraIds: ['door'], stored },
    spared: [] as readonly ProtectedSpan[] | null,
  };
  const { log, lines } = logLines();
  const runner = new InlineRunner();
  const make = () =>
    new EventRecording(
      { archiveDir },
      {
        ...{ clock, log, runner },
        cameraIds: () => state.cameraIds,
        spared: () => state.spared,
        isLasting: () => state.isLasting,
        watched: (cameraId) => (cameraId === 'door' ? state.watched : always),
        times: (_, fromMs, toMs) =>
          state.events === null
            ? null
            : {
                sinceMs: state.sinceMs,
                events: state.events.filter(
                  (e) => e.fromMs <= toMs && (e.toMs ?? Number.POSITIVE_INFINITY) >= fromMs,
                ),
              },
        memory: {
          decided: () => state.stored,
          rememberDecided: (text) => {
            state.stored = text;
          },
        },
      },
    );
  const names = (): string[] => readdirSync(folder).sort();
  const hashes = (): string[] => names().flatMap((name) => decodedHashes(join(folder, name), 'v'));
  const gaps = async () => {
    const list = await new Recordings({ archiveDir }, { runner, live: nobodyWrites }).list('door');
    const when = { fromMs: START_MS, toMs: START_MS + SECONDS * 1_000, nowMs: clock.wallMs() };
    return coverageOf(list, when, null).gaps.map(({ startMs, endMs, reason }) => [
      (startMs - START_MS) / 1_000,
      (endMs - START_MS) / 1_000,
      reason,
    ]);
  };
  return { archiveDir, folder, clock, state, lines, runner, make, names, hashes, gaps };
};
