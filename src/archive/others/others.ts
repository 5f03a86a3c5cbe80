import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { ThreadRegister } from '../jobs/job-pool.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Recording } from '../list/recording.js';
import { makeMailbox } from '../offsite/mailbox.js';
import { Answers, type BoxAnswer, type OwnArchive } from './answers.js';
import { AskerThread } from './asker-thread.js';
import { KeptLists } from './kept-lists.js';
import type { BoxAddress } from './messages.js';
import { type HavingBox, OtherRecordings } from './other-recordings.js';

/** A box of the cluster, as far as recordings are concerned. */
export type NearBox = {
  readonly name: string;
  /** It lives. */
  readonly isHere: boolean;
  /** Where it is asked; null: nowhere. */
  readonly address: BoxAddress | null;
};

export type OthersOptions = {
  readonly box: string;
  readonly archiveDir: string;
  /** Where it is written what other boxes have. */
  readonly boxesDir: string;
  readonly key: Uint8Array;
};

export type OthersDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly threads: ThreadRegister;
  /** All but this one. */
  readonly boxes: () => readonly NearBox[];
};

/** What the archive gives. */
export type OthersTools = {
  readonly own: OwnArchive;
  /** Threads for lists that viewers here wait for, for whoever asks from elsewhere, and for what nobody waits for. */
  readonly runner: JobRunner;
  readonly asked: JobRunner;
  readonly background: JobRunner;
};

/** What became of a deletion at other boxes. */
export type DeletedElsewhere = {
  readonly deletedCount: number;
  /** Those that still hold some. */
  readonly left: readonly string[];
};

type Other = { readonly lists: KeptLists; readonly cameras: Set<string> };

const POLL_MS = 2_000;
/** Of a camera that another box writes now what is listed is no older than this, where that answers as soon as this. */
const FRESH_MS = 2_000;
const REFRESH_PATIENCE_MS = 1_000;
const EVER = Number.POSITIVE_INFINITY;
/** Whoever deleted something is to see it gone. */
const DELETED_PATIENCE_MS = 5_000;
const DELETE_LIMITS = { withinMs: 60_000, maxBytes: 0 };

/** The recordings of the other boxes of a cluster: kept known, read, and deleted there; and this box's own for them. */
export class Others {
  /** By which jobs ask for what is there. */
  readonly #mailbox = makeMailbox();
  readonly #options: OthersOptions;
  readonly #deps: OthersDeps;
  readonly #tools: OthersTools;
  readonly #answers: Answers;
  readonly #asker: AskerThread;
  readonly #recordings: OtherRecordings;
  readonly #others = new Map<string, Other>();
  #loading: Promise<void> | null = null;
  #here: ReadonlySet<string> = new Set();
  #told = '';
  #timer: Timer | null = null;

  constructor(options: OthersOptions, deps: OthersDeps, tools: OthersTools) {
    this.#options = options;
    this.#deps = deps;
    this.#tools = tools;
    const { own, asked, background, runner } = tools;
    this.#answers = new Answers(options, { own, runner: asked, background, clock: deps.clock });
    this.#recordings = new OtherRecordings(options, { runner, mailbox: this.#mailbox });
    const { box, key } = options;
    this.#asker = new AskerThread(
      { box, key, mailbox: this.#mailbox },
      { ...deps, onStale: (name, cameraId) => this.#others.get(name)?.lists.doubt(cameraId) },
    );
  }

  start(): void {
    this.#asker.start();
    void this.#load();
    this.#timer = this.#deps.clock.every(POLL_MS, () => this.#poll());
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    await this.#asker.stop();
  }

  /** What another box asks. */
  answer(box: string, question: Readonly<Record<string, unknown>>): Promise<BoxAnswer> {
    return this.#answers.answer(box, question);
  }

  /** All that other boxes have of a camera, those that are away included; in no order. */
  async of(cameraId: string, isFresh: boolean): Promise<readonly Recording[]> {
    await this.#load();
    this.#look();
    // What is written of a box that wasn't asked since it or this one started is what it had before.
    await Promise.all(
      [...this.#here].map((box) => this.#otherOf(box).lists.refresh(cameraId, EVER, REFRESH_PATIENCE_MS)),
    );
    const having = (): HavingBox[] =>
      [...this.#others].flatMap(([box, { cameras, lists }]) =>
        cameras.has(cameraId) ? [{ box, isHere: this.#here.has(box), heardMs: lists.heardMs }] : [],
      );
    const found = await this.#recordings.of(cameraId, having());
    const writing = new Set(found.flatMap(({ box, isOpen, isAway }) => (isOpen && !isAway ? [box] : [])));
    if (!isFresh || writing.size === 0) return found;
    await Promise.all(
      [...writing].map((box) => this.#otherOf(box).lists.refresh(cameraId, FRESH_MS, REFRESH_PATIENCE_MS)),
    );
    return this.#recordings.of(cameraId, having());
  }

  /** At all boxes that are here; what of those that aren't is known to lie within the time stays. */
  async deleteWithin(cameraId: string, fromMs: number, toMs: number): Promise<DeletedElsewhere> {
    const known = await this.of(cameraId, false);
    const question = { what: 'delete', cameraId, fromMs, toMs };
    const holds = (box: string): boolean =>
      known.some((one) => one.box === box && !one.isOpen && one.startMs >= fromMs && one.endMs <= toMs);
    const boxes = new Set([...this.#here, ...this.#others.keys()]);
    const outcomes = await Promise.all(
      [...boxes].map(async (box) => {
        if (!this.#here.has(box)) return { box, deleted: 0, isLeft: holds(box) };
        try {
          const { content } = await this.#asker.ask(box, question, DELETE_LIMITS);
          this.#others.get(box)?.lists.doubt(cameraId);
          return { box, deleted: Number(content['deleted']) || 0, isLeft: false };
        } catch {
          return { box, deleted: 0, isLeft: true };
        }
      }),
    );
    await Promise.all(
      [...this.#here].map((box) => this.#others.get(box)?.lists.refresh(cameraId, 0, DELETED_PATIENCE_MS)),
    );
    return {
      deletedCount: outcomes.reduce((sum, { deleted }) => sum + deleted, 0),
      left: outcomes.filter(({ isLeft }) => isLeft).map(({ box }) => box),
    };
  }

  /** What was written before. */
  #load(): Promise<void> {
    this.#loading ??= this.#loadOnce().catch((fault: unknown) => {
      this.#loading = null;
      this.#deps.log.warn('it can not be read what other boxes have', { reason: String(fault) });
    });
    return this.#loading;
  }

  async #loadOnce(): Promise<void> {
    const { boxesDir, box: own } = this.#options;
    for (const { box, cameraIds, heardMs } of await this.#tools.background.run('listsOfBoxes', {
      boxesDir,
    })) {
      if (box === own) continue;
      const { cameras, lists } = this.#otherOf(box);
      lists.recall(heardMs);
      for (const cameraId of cameraIds) cameras.add(cameraId);
    }
  }

  #poll(): void {
    this.#look();
    for (const box of this.#here) void this.#otherOf(box).lists.poll();
  }

  /** Who is here now. */
  #look(): void {
    const here = this.#deps.boxes().flatMap(({ isHere, address }) => (isHere && address ? [address] : []));
    const told = JSON.stringify(here);
    if (told === this.#told) return;
    this.#told = told;
    const before = this.#here;
    this.#here = new Set(here.map(({ box }) => box));
    for (const box of before) if (!this.#here.has(box)) void this.#otherOf(box).lists.keepHeard();
    this.#asker.tell(here);
  }

  #otherOf(box: string): Other {
    const known = this.#others.get(box);
    if (known !== undefined) return known;
    const { boxesDir } = this.#options;
    const { background } = this.#tools;
    const cameras = new Set<string>();
    const other: Other = {
      cameras,
      lists: new KeptLists(
        { box, boxesDir },
        {
          ...{ clock: this.#deps.clock, log: this.#deps.log, asker: this.#asker, runner: background },
          isHere: (name) => this.#here.has(name),
          onTaken: (_, cameraId, count) => {
            if (count > 0) cameras.add(cameraId);
            else cameras.delete(cameraId);
          },
        },
      ),
    };
    this.#others.set(box, other);
    return other;
  }
}
