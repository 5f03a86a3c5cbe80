import { join } from 'node:path';
import type { Clock } from '../../base/clock.js';
import { Turns, type TurnsOptions } from '../../base/turns.js';
import { archiveError } from '../archive-error.js';
import { folderOf } from '../files/archive-path.js';
import { parseRecordingName } from '../files/file-name.js';
import { sidecarOf } from '../files/sidecar-name.js';
import type { JobRunner } from '../jobs/jobs.js';
import { nothingKnown } from '../list/inspect-files.js';
import type { Recording } from '../list/recording.js';
import type { Copy } from '../offsite/copy.js';
import { FIELDS, rowOf } from '../offsite/copy-table.js';
import { OwnNews } from './own-news.js';
import { type Question, readQuestion } from './questions.js';

/** What is here for others: all that this box's own disk has. */
export type OwnArchive = {
  /** Sorted by start. */
  here(cameraId: string): Promise<readonly Recording[]>;
  deleteHere(cameraId: string, fromMs: number, toMs: number): Promise<number>;
};

export type BoxAnswer = {
  readonly content: Readonly<Record<string, unknown>>;
  readonly bytes: Uint8Array<ArrayBuffer> | null;
};

type Asked<What extends Question['what']> = Extract<Question, { what: What }>;

/** Reading has threads of its own; whoever watches here shares no more than the disk with a crowd elsewhere. */
const READ_TURNS: TurnsOptions = { atOnce: 4, maxWaiting: 256, maxInLane: 64, patienceMs: 8_000 };
/** Lists are made by the threads that viewers here wait for: one at a time. */
const LIST_TURNS: TurnsOptions = { atOnce: 1, maxWaiting: 256, maxInLane: 64, patienceMs: 15_000 };

const busy = () => archiveError('archive_busy', 'the archive has too much to do; try again');

/** As a row; one that is being written has no length. */
const copyOf = (recording: Recording, startMs: number, endMs: number | null): Copy => ({
  recording: { startMs, endMs: endMs ?? startMs },
  stamp: recording,
  inspection: {
    ...nothingKnown,
    ...{ startMs: recording.startMs, endMs: recording.endMs, startReason: recording.startReason },
  },
  sizeBytes: recording.sizeBytes,
  ...{ mark: 0, sidecarBytes: 0, epoch: recording.epoch, box: recording.box, isLeaving: false },
});

const rowsOf = (recordings: readonly Recording[]): Float64Array<ArrayBuffer> => {
  const rows = new Float64Array(recordings.length * FIELDS);
  let at = 0;
  for (const recording of recordings) {
    const name = parseRecordingName(recording.fileName);
    if (name === null) continue;
    rows.set(rowOf(copyOf(recording, name.startMs, name.endMs), 0), at);
    at += FIELDS;
  }
  return at === rows.length ? rows : rows.slice(0, at);
};

/** Answers what other boxes ask about the recordings that are here. */
export class Answers {
  readonly #archiveDir: string;
  readonly #own: OwnArchive;
  readonly #runner: JobRunner;
  readonly #news: OwnNews;
  readonly #reads: Turns;
  readonly #lists: Turns;

  constructor(
    options: { readonly archiveDir: string },
    deps: {
      readonly own: OwnArchive;
      /** Threads for those that ask from elsewhere. */
      readonly runner: JobRunner;
      /** And for what nobody waits for. */
      readonly background: JobRunner;
      readonly clock: Clock;
    },
  ) {
    const { own, runner, background, clock } = deps;
    this.#archiveDir = options.archiveDir;
    this.#own = own;
    this.#runner = runner;
    this.#news = new OwnNews(options, { runner: background, clock });
    this.#reads = new Turns(READ_TURNS, { clock, busy });
    this.#lists = new Turns(LIST_TURNS, { clock, busy });
  }

  async answer(box: string, fields: Readonly<Record<string, unknown>>): Promise<BoxAnswer> {
    const question = readQuestion(fields);
    if (question.what === 'news') {
      const content = await this.#news.since(question.boot, question.after);
      return { content, bytes: null };
    }
    if (question.what === 'list') return this.#lists.run(box, () => this.#list(question));
    if (question.what === 'read') return this.#reads.run(box, () => this.#read(question));
    const { cameraId, fromMs, toMs } = question;
    return { content: { deleted: await this.#own.deleteHere(cameraId, fromMs, toMs) }, bytes: null };
  }

  async #list({ cameraId, days }: Asked<'list'>): Promise<BoxAnswer> {
    const rows = rowsOf(await this.#own.here(cameraId));
    const folder = folderOf(this.#archiveDir, cameraId);
    const { gone, isMore, bytes } = await this.#runner.run('tellRows', { folder, rows, days }, [rows.buffer]);
    return { content: { gone, isMore }, bytes };
  }

  async #read({ cameraId, fileName, stamp, ...asked }: Asked<'read'>): Promise<BoxAnswer> {
    const { isSidecar, startByte, endByte } = asked;
    const folder = folderOf(this.#archiveDir, cameraId);
    const path = join(folder, isSidecar ? (sidecarOf(fileName) ?? fileName) : fileName);
    const range = { startByte, endByte };
    const bytes = await this.#runner.run('readForBox', { path, stamp: isSidecar ? null : stamp, ...range });
    return { content: {}, bytes };
  }
}
