import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { closedName } from '../../../src/archive/files/file-name.js';
import { Copier } from '../../../src/archive/offsite/copier.js';
import type { CopyState } from '../../../src/archive/offsite/messages.js';
import { Pacer } from '../../../src/archive/offsite/pacer.js';
import { systemClock } from '../../../src/base/clock.js';
import { s3AddressOf } from '../../../src/base/s3-address.js';
import { S3Client } from '../../../src/s3/s3-client.js';
import type { BetweenStore } from '../../support/between-store.js';
import { HurriedClock } from '../../support/hurried-clock.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import type { Versitygw } from '../../support/versitygw.js';
import { logLines } from '../log-lines.js';

export const START_MS = Date.UTC(2026, 10, 21, 8, 30);
export const PART_BYTES = 5 << 20;
const DAY_MS = 86_400_000;

/** Folders of recordings beside a store; a copier between them, two days later, whose time passes a hundred times as fast. */
export class CopierRig {
  readonly archiveDir: string;
  readonly copiesDir: string;
  readonly logged = logLines();
  readonly store: Versitygw;
  state: CopyState | null = null;
  isThere = true;
  readonly #t: TestContext;
  #copier: Copier | null = null;

  constructor(t: TestContext, store: Versitygw) {
    this.#t = t;
    this.store = store;
    this.archiveDir = tempFolder(t);
    this.copiesDir = join(tempFolder(t), 'copies');
    t.after(() => this.stop());
  }

  get copier(): Copier {
    return this.#copier!;
  }

  /** Begins; as after a restart if it was stopped before. `mbit`: a second of the real clock. */
  start({
    mbit = null as number | null,
    box = 'box',
    via = null as BetweenStore | null,
    bucket = 'recordings',
    epoch = null as number | null,
  } = {}): void {
    const url = this.store.url(bucket).replace(`:${this.store.port}/`, `:${via?.port ?? this.store.port}/`);
    this.state = null;
    this.#copier = new Copier(
      {
        ...{ archiveDir: this.archiveDir, copiesDir: this.copiesDir, box, partBytes: PART_BYTES },
        isShared: epoch !== null,
      },
      {
        clock: new HurriedClock(100, 2 * DAY_MS),
        log: this.logged.log,
        client: new S3Client(s3AddressOf(url)!, { clock: systemClock }),
        pacer: new Pacer(mbit, systemClock),
        isThere: async () => this.isThere,
        epochOf: async () => epoch ?? 0,
        onState: (state) => {
          this.state = state;
        },
      },
    );
    this.#copier.start();
    this.#copier.hold([]);
  }

  async stop(): Promise<void> {
    const copier = this.#copier;
    this.#copier = null;
    await copier?.stop();
  }

  /** A closed recording of a minute, that begins so many minutes later; its name. */
  record(cameraId: string, minute: number, bytes: number | Buffer = 1_000): string {
    const fileName = this.nameOf(minute);
    this.write(cameraId, fileName, typeof bytes === 'number' ? randomBytes(bytes) : bytes);
    return fileName;
  }

  nameOf(minute: number): string {
    const startMs = START_MS + minute * 60_000;
    return closedName(startMs, startMs + 60_000);
  }

  write(cameraId: string, fileName: string, bytes: Buffer): void {
    const path = this.pathOf(cameraId, fileName);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, bytes);
  }

  pathOf(cameraId: string, fileName: string): string {
    return join(this.archiveDir, cameraId, fileName);
  }

  objectName(cameraId: string, fileName: string, { epoch = 0, box = 'box' } = {}): string {
    const stem = fileName.replace(/\.mp4$/, '');
    return `${cameraId}/${stem.slice(0, 10)}/${stem}_${epoch}_${box}.mp4`;
  }

  /** Where the store has it. */
  objectPath(cameraId: string, fileName: string, more: { epoch?: number; box?: string } = {}): string {
    return join(this.store.folder, 'recordings', this.objectName(cameraId, fileName, more));
  }

  /** For the test itself. */
  client(): S3Client {
    const client = new S3Client(s3AddressOf(this.store.url())!, { clock: systemClock });
    this.#t.after(() => client.close());
    return client;
  }

  /** Whether the store has just what the folder has. */
  isCopied(cameraId: string, fileName: string): boolean {
    const path = this.objectPath(cameraId, fileName);
    return existsSync(path) && readFileSync(path).equals(readFileSync(this.pathOf(cameraId, fileName)));
  }

  /** Names of all objects. */
  objects(): string[] {
    return readdirSync(join(this.store.folder, 'recordings'), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.(?:mp4|detections)$/.test(name) && !name.startsWith('.'))
      .sort();
  }

  untilIdle(): Promise<unknown> {
    return until('all is copied', () => this.state?.waiting === 0 && this.state.fault === null, {
      describe: () => JSON.stringify(this.state) + JSON.stringify(this.logged.lines),
    });
  }
}

/** All that a camera ever had, and what has one name. */
export const EVERYTHING = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY, fileNames: [] };
export const named = (...fileNames: string[]) => ({
  ...{ fromMs: Number.POSITIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY },
  fileNames,
});

/** Nothing is due of these cameras but what a limit says. */
export const expiryOf = (
  cameraIds: readonly string[],
  limits: readonly { cameraId: string; beforeMs: number }[] = [],
) => ({ cameraIds, limits, eras: [], spared: [], localBeforeMs: null });
