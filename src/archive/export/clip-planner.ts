import { createHash } from 'node:crypto';
import { archiveError } from '../archive-error.js';
import type { JobRunner } from '../jobs/jobs.js';
import { Clip, type ClipDeps } from './clip.js';
import { type ClipPlace, type ClipRange, pausesOf, placesOf } from './clip-layout.js';
import { type ClipState, type CollectClipOutput, emptyClip, memoryOf } from './collect-clip.js';

const MAX_CLIPS = 24;
/** Whoever takes as little as may be holds his own for as long as he likes. */
const MAX_CLIPS_OF_VIEWER = 8;
/** Heads of clips are held until they are sent: 2 MB an hour, 50 for a day of pictures and sound. */
const MAX_HEAD_BYTES = 256 << 20;
const MAX_PLANNED_AT_ONCE = 3;

/** Plans clips of parts of recordings, a bounded number at a time. */
export class ClipPlanner {
  readonly #runner: JobRunner;
  #planning = 0;
  readonly #waiting: (() => void)[] = [];
  #open = 0;
  readonly #openOf = new Map<string, number>();
  #headBytes = 0;

  constructor(deps: { readonly runner: JobRunner }) {
    this.#runner = deps.runner;
  }

  /**
   * Throws `mixed_formats` where the tracks change, `range_too_large`, and `archive_busy` for too many at once, be it of
   * `viewer` (null: nobody's) or in all.
   */
  async plan(
    ranges: readonly ClipRange[],
    relocate: ClipDeps['relocate'],
    viewer: string | null = null,
  ): Promise<Clip> {
    const giveBack = this.#take(viewer);
    await this.#enter();
    let isPlanned = false;
    try {
      const clip = await this.#plan(ranges.map(bounded), relocate, giveBack);
      isPlanned = true;
      return clip;
    } finally {
      this.#leave();
      if (!isPlanned) giveBack();
    }
  }

  /** A place for a clip; returns what gives it back. */
  #take(viewer: string | null): () => void {
    const own = viewer === null ? 0 : (this.#openOf.get(viewer) ?? 0);
    const isFull = this.#open >= MAX_CLIPS || this.#headBytes >= MAX_HEAD_BYTES;
    if (isFull || own >= MAX_CLIPS_OF_VIEWER)
      throw archiveError('archive_busy', 'too many exports at once; try again');
    this.#open += 1;
    if (viewer !== null) this.#openOf.set(viewer, own + 1);
    return () => {
      this.#open -= 1;
      if (viewer === null) return;
      const left = this.#openOf.get(viewer)! - 1;
      if (left === 0) this.#openOf.delete(viewer);
      else this.#openOf.set(viewer, left);
    };
  }

  /** Those who ask while others are planned wait for their turn: it takes a fraction of a second each. */
  async #enter(): Promise<void> {
    if (this.#planning < MAX_PLANNED_AT_ONCE) this.#planning += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** The place goes to whoever has waited longest. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#planning -= 1;
    else next();
  }

  async #plan(
    ranges: readonly ClipRange[],
    relocate: ClipDeps['relocate'],
    giveBack: () => void,
  ): Promise<Clip> {
    const places = placesOf(ranges);
    const { longestSeconds, totalSeconds } = pausesOf(places);
    const pauseSeconds = { video: longestSeconds, audio: totalSeconds };
    let state = emptyClip();
    for (const [index, range] of ranges.entries()) {
      state = await this.#collect(range, places[index]!, pauseSeconds, state);
    }
    const startMs = ranges[0]!.wallMs;
    const plan = await this.#runner.run('finishClip', { state, startMs }, memoryOf(state));
    const sources = ranges.map(({ source }) => source);
    const lastModifiedMs = Math.max(...sources.map(({ stamp }) => stamp.mtimeMs));
    const facts = { etag: etagOf(ranges), lastModifiedMs };
    this.#headBytes += plan.head.length;
    const onClose = (): void => {
      giveBack();
      this.#headBytes -= plan.head.length;
    };
    return new Clip(plan, sources, facts, { runner: this.#runner, relocate, onClose });
  }

  async #collect(
    { source, startBytes, endBytes, wallMs }: ClipRange,
    place: ClipPlace,
    pauseSeconds: { readonly video: number; readonly audio: number },
    before: ClipState,
  ): Promise<ClipState> {
    const always = { source, endBytes, place, pauseSeconds, wallMs };
    let state = before;
    for (let fromBytes: number | null = startBytes; fromBytes !== null; ) {
      const input = { ...always, fromBytes, isNewFile: fromBytes === startBytes, state };
      const step: CollectClipOutput = await this.#runner.run('collectClip', input, memoryOf(state));
      state = step.state;
      fromBytes = step.nextBytes;
    }
    return state;
  }
}

/** An open file is the same one as long as what the clip takes of it is there, however it goes on. */
const bounded = (range: ClipRange): ClipRange => {
  const { source, endBytes } = range;
  if (!source.isOpen) return range;
  return { ...range, source: { ...source, stamp: { ...source.stamp, sizeBytes: endBytes } } };
};

/** How clips are laid out: a download that was cut must not go on with another's bytes. */
const LAYOUT = 2;

const etagOf = (ranges: readonly ClipRange[]): string => {
  const facts = ranges.map(({ source: { stamp, isOpen }, startBytes, endBytes }) => [
    stamp.ino,
    isOpen ? 0 : stamp.mtimeMs,
    startBytes,
    endBytes,
  ]);
  return `"${createHash('sha256')
    .update(JSON.stringify([LAYOUT, facts]))
    .digest('base64url')
    .slice(0, 27)}"`;
};
