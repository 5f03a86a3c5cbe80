import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import { ClockEras } from '../../../src/archive/keep/clock-eras.js';
import { evictOldest } from '../../../src/archive/keep/delete-files.js';
import { Retention, type TimeMemory } from '../../../src/archive/keep/retention.js';
import { FakeClock } from '../../support/fake-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { InlineRunner } from '../inline-runner.js';
import { logLines } from '../log-lines.js';
import { nobodyWrites } from '../nobody-writes.js';

const NOW_MS = Date.UTC(2026, 10, 21, 8, 30);
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const BOOT_MS = 30_000;

/** A box whose clock is set now and then, and whose service is started again and again. */
class Box {
  readonly folder: string;
  readonly clock = new FakeClock(NOW_MS);
  retention: Retention;
  readonly #archiveDir: string;
  readonly #memory: TimeMemory;
  #eras: string | null = null;

  constructor(t: TestContext) {
    this.#archiveDir = tempFolder(t);
    this.folder = join(this.#archiveDir, 'a');
    mkdirSync(this.folder);
    let lastMs: number | null = NOW_MS;
    this.#memory = {
      lastMs: () => lastMs,
      remember: (timeMs) => {
        lastMs = timeMs;
      },
      eras: () => this.#eras,
      rememberEras: (text) => {
        this.#eras = text;
      },
    };
    this.retention = this.#start();
  }

  restart(): void {
    this.retention = this.#start();
  }

  /** Records for some minutes, and looks after the archive meanwhile. */
  async record(minutes: number): Promise<string> {
    await this.retention.sweep();
    const startMs = this.clock.wallMs();
    for (let left = minutes; left > 0; left -= 10) {
      this.clock.advance(Math.min(left, 10) * MINUTE_MS);
      await this.retention.sweep();
    }
    const name = closedName(startMs, this.clock.wallMs());
    writeFileSync(join(this.folder, name), 'x');
    return name;
  }

  setWall(wallMs: number): void {
    this.clock.setWall(wallMs);
  }

  get names(): string[] {
    return readdirSync(this.folder).sort();
  }

  /** The order in which files leave a full disk. */
  evictAll(): string[] {
    const { list: eras } = new ClockEras(this.#eras);
    const full = () => ({ bavail: 0, blocks: 1_000_000, bsize: 4096 });
    const input = { archiveDir: this.#archiveDir, minFreePercent: 50, eras, maxFiles: 64, skip: [] };
    return evictOldest(input, full).deleted.map(({ fileName }) => fileName);
  }

  #start(): Retention {
    const deps = {
      runner: new InlineRunner(),
      clock: this.clock,
      log: logLines().log,
      rules: () => [{ cameraId: 'a', retentionDays: 7, camera: 'here' as const }],
      memory: this.#memory,
      live: nobodyWrites,
      onGone: () => {},
    };
    return new Retention({ archiveDir: this.#archiveDir, minFreePercent: 0 }, deps);
  }
}

test('what a clock named that started in 1970 leaves a full disk in its turn, over restarts', async (t) => {
  const box = new Box(t);
  const stranger = closedName(NOW_MS + 900 * DAY_MS, NOW_MS + 900 * DAY_MS + HOUR_MS);
  writeFileSync(join(box.folder, stranger), 'x');
  const first = await box.record(60);
  box.setWall(BOOT_MS);
  box.restart();
  const lost = await box.record(20);
  box.setWall(NOW_MS + 3 * HOUR_MS);
  const second = await box.record(60);
  box.setWall(BOOT_MS);
  box.restart();
  const now = await box.record(200);
  assert.match(lost, /^1970/);
  assert.match(now, /^1970/);
  // Whether the first start in 1970 made a file of that time, or this one, no name tells: it stays as long.
  assert.deepEqual(box.evictAll(), [stranger, first, second, lost, now]);
});

test('what is dated in the future leaves a full disk before what was recorded since', async (t) => {
  const box = new Box(t);
  const first = await box.record(60);
  box.setWall(NOW_MS + 400 * DAY_MS);
  const future = await box.record(30);
  box.setWall(NOW_MS + 4 * HOUR_MS);
  box.restart();
  const now = await box.record(60);
  assert.deepEqual(box.evictAll(), [first, future, now]);
});

test('what a wrong clock named is kept as long as everything else', async (t) => {
  const box = new Box(t);
  await box.record(60);
  box.setWall(BOOT_MS);
  box.restart();
  const lost = await box.record(30 * 60);
  box.setWall(NOW_MS + 32 * HOUR_MS);
  box.restart();
  await box.record(30 * 60);
  assert.ok(box.names.includes(lost), 'days after the clock was set right');
  box.setWall(box.clock.wallMs() + 400 * DAY_MS);
  const future = await box.record(60);
  box.setWall(box.clock.wallMs() - 400 * DAY_MS);
  await box.record(4 * 24 * 60);
  assert.ok(box.names.includes(lost) && box.names.includes(future));
  await box.record(9 * 24 * 60);
  assert.ok(!box.names.includes(lost) && !box.names.includes(future));
});
