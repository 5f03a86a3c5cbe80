import type { Clock, Timer } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { ThreadRegister } from '../jobs/job-pool.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Recording } from '../list/recording.js';
import { makeMailbox } from '../offsite/mailbox.js';
import { Answers, type BoxAnswer, type OwnArchive } from './answers.js';
import type { Asker, SpawnAsker } from './asker-thread.js';
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
  readonly spawnAsker: SpawnAsker;
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
  /** Those that still hold some, or may, and why; null: they can't be reached now. */
  readonly left: readonly { readonly box: string; readonly code: string | null }[];
};

type Other = { readonly lists: KeptLists; readonly cameras: Set<string> };

const POLL_MS = 2_000;
/** Of a camera that another box writes now what is listed is no older than this, where that answers as soon as this. */
const FRESH_MS = 2_000;
const REFRESH_PATIENCE_MS = 1_000;
/** And where it doesn't, what it has of it is known for so long: recorders have as much that isn't on the disk yet. */
const GROWN_MS = 10_000;
const EVER = Number.POSITIVE_INFINITY;
/** Cameras that were listed just now: whoever asks of which boxes nothing is known has listed one. */
const MAX_UNHEARD = 1_000;
/** Whoever deleted something is to see it gone. */
const DELETED_PATIENCE_MS = 5_000;
const DELETE_LIMITS = { withinMs: 60_000, inAllMs: 60_000, maxBytes: 0 };

/** The recordings of the other boxes of a cluster: kept known, read, and deleted there; and this box's own for them. */
export class Others {
  /** By which jobs ask for what is there. */
  readonly #mailbox = makeMailbox();
  readonly #options: OthersOptions;
  readonly #deps: OthersDeps;
  readonly #tools: OthersTools;
  readonly #answers: Answers;
  readonly #asker: Asker;
  readonly #recordings: OtherRecordings;
  readonly #others = new Map<string, Other>();
  /** By camera; whoever was listed last is the last one. */
  readonly #unheard = new Map<string, readonly string[]>();
  #loading: Promise<void> | null = null;
  /** Those that live, and of them those that can be asked. */
  #living: readonly string[] = [];
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
    this.#asker = deps.spawnAsker(
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

  /** Whether something is known of what it has. */
  knows(box: string): boolean {
    return this.#others.has(box);
  }

  /** A box is gone for good: what it had is listed no more. One that comes back is asked for all. */
  async forget(box: string): Promise<void> {
    await this.#load();
    this.#look();
    const other = this.#others.get(box);
    if (other === undefined || this.#living.includes(box)) return;
    this.#others.delete(box);
    await other.lists.settled();
    if (this.#others.has(box)) return;
    const { boxesDir } = this.#options;
    await this.#tools.background.run('forgetBox', { boxesDir, box }).catch((fault: unknown) => {
      this.#deps.log.warn('what a box had that is gone for good stays known', {
        ...{ box, reason: messageOf(fault) },
      });
    });
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
    const found = await this.#recordings.of(cameraId, this.#having(cameraId));
    const writing = new Set(found.flatMap(({ box, isOpen, isAway }) => (isOpen && !isAway ? [box] : [])));
    if (!isFresh) return found;
    await Promise.all(
      [...writing].map((box) => this.#otherOf(box).lists.refresh(cameraId, FRESH_MS, REFRESH_PATIENCE_MS)),
    );
    this.#note(cameraId, writing);
    return writing.size === 0 ? found : this.#recordings.of(cameraId, this.#having(cameraId));
  }

  /** Boxes that lived when it was listed last what there is of a camera, and of which it isn't known what they have. */
  unheard(cameraId: string): readonly string[] {
    return this.#unheard.get(cameraId) ?? [];
  }

  #note(cameraId: string, writing: ReadonlySet<string>): void {
    const unheard = this.#living.filter((box) => {
      const withinMs = writing.has(box) ? GROWN_MS : EVER;
      return !this.#here.has(box) || !this.#otherOf(box).lists.isCurrent(cameraId, withinMs);
    });
    this.#unheard.delete(cameraId);
    if (unheard.length > 0) this.#unheard.set(cameraId, unheard);
    if (this.#unheard.size > MAX_UNHEARD) this.#unheard.delete(this.#unheard.keys().next().value ?? '');
  }

  #having(cameraId: string): HavingBox[] {
    return [...this.#others].flatMap(([box, { cameras, lists }]) =>
      cameras.has(cameraId) ? [{ box, isHere: this.#here.has(box), heardMs: lists.heardMs }] : [],
    );
  }

  /** At all boxes that can be asked; what of the others is known to lie within the time, or may, stays. */
  async deleteWithin(cameraId: string, fromMs: number, toMs: number): Promise<DeletedElsewhere> {
    const known = await this.of(cameraId, false);
    const living = new Set(this.#living);
    // Where what is open at a box that is away ends is not known.
    const isWithin = ({ startMs, endMs, isOpen }: Recording): boolean =>
      startMs >= fromMs && (isOpen ? startMs < toMs : endMs <= toMs);
    const holds = (box: string): boolean =>
      living.has(box) || known.some((one) => one.box === box && isWithin(one));
    const boxes = [...new Set([...living, ...this.#others.keys()])];
    const asked = boxes.filter((box) => this.#here.has(box));
    const outcomes = await Promise.all(asked.map((box) => this.#deleteAt(box, cameraId, fromMs, toMs)));
    await Promise.all(asked.map((box) => this.#otherOf(box).lists.refresh(cameraId, 0, DELETED_PATIENCE_MS)));
    const unasked = boxes.filter((box) => !asked.includes(box) && holds(box));
    return {
      deletedCount: outcomes.reduce((sum, { deleted }) => sum + deleted, 0),
      left: [...outcomes.flatMap(({ left }) => left ?? []), ...unasked.map((box) => ({ box, code: null }))],
    };
  }

  async #deleteAt(
    box: string,
    cameraId: string,
    fromMs: number,
    toMs: number,
  ): Promise<{ readonly deleted: number; readonly left: DeletedElsewhere['left'][number] | null }> {
    try {
      const question = { what: 'delete', cameraId, fromMs, toMs };
      const { content } = await this.#asker.ask(box, question, DELETE_LIMITS);
      this.#otherOf(box).lists.doubt(cameraId);
      return { deleted: Number(content['deleted']) || 0, left: null };
    } catch (fault) {
      const code = fault instanceof AppError ? fault.code : 'internal_error';
      const reason = messageOf(fault);
      this.#deps.log.warn('another box does not delete recordings', { box, camera: cameraId, code, reason });
      return { deleted: 0, left: { box, code: code.startsWith('relay_') ? null : code } };
    }
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

  /** Who is here now; one without an address can't be asked. */
  #look(): void {
    const living = this.#deps.boxes().filter(({ isHere }) => isHere);
    this.#living = living.map(({ name }) => name);
    const here = living.flatMap(({ address }) => (address === null ? [] : [address]));
    const told = JSON.stringify(here);
    if (told === this.#told) return;
    this.#told = told;
    const before = this.#here;
    this.#here = new Set(here.map(({ box }) => box));
    for (const box of before) if (!this.#here.has(box)) void this.#others.get(box)?.lists.keepHeard();
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
