import { createHash } from 'node:crypto';
import { archiveError } from '../archive-error.js';
import type { JobRunner } from '../jobs/jobs.js';
import { Clip, type ClipDeps } from './clip.js';
import { type ClipPlace, type ClipRange, pausesOf, placesOf } from './clip-layout.js';
import { type ClipState, type CollectClipOutput, emptyClip, memoryOf } from './collect-clip.js';

const MAX_CLIPS = 24;
/** Heads of clips are held until they are sent: 2 MB an hour, 50 for a day of pictures and sound. */
const MAX_HEAD_BYTES = 256 << 20;
const MAX_PLANNED_AT_ONCE = 3;

/** Plans clips of parts of recordings, a bounded number at a time. */
export class ClipPlanner {
  readonly #runner: JobRunner;
  #planning = 0;
  readonly #waiting: (() => void)[] = [];
  #open = 0;
  #headBytes = 0;

  constructor(deps: { readonly runner: JobRunner }) {
    this.#runner = deps.runner;
  }

  /** Throws `mixed_formats` where the tracks change, `range_too_large`, and `archive_busy` for too many at once. */
  async plan(ranges: readonly ClipRange[], relocate: ClipDeps['relocate']): Promise<Clip> {
    if (this.#open >= MAX_CLIPS || this.#headBytes >= MAX_HEAD_BYTES) {
      throw archiveError('archive_busy', 'too many exports at once; try again');
    }
    this.#open += 1;
    await this.#enter();
    let isPlanned = false;
    try {
      const clip = await this.#plan(ranges.map(bounded), relocate);
      isPlanned = true;
      return clip;
    } finally {
      this.#leave();
      if (!isPlanned) this.#open -= 1;
    }
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

  async #plan(ranges: readonly ClipRange[], relocate: ClipDeps['relocate']): Promise<Clip> {
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
      this.#open -= 1;
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
