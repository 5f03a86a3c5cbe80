import { AppError } from '../../base/errors.js';
import { archiveError, isGone } from '../archive-error.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { Clip, ClipDeps } from './clip.js';
import type { ClipRange } from './clip-layout.js';

export type PinnedClipDeps = {
  /** Throws as `ClipPlanner.plan`. */
  readonly plan: (ranges: readonly ClipRange[]) => Promise<Clip>;
  readonly relocate: ClipDeps['relocate'];
};

type Facts = Pick<Clip, 'contentBytes' | 'durationMs' | 'etag' | 'lastModifiedMs'>;

const TICKS_PER_MS = 90;
/** What is planned again after this has other files behind it. */
const lostCodes: readonly string[] = ['not_found', 'recording_changed', 'recording_unreadable'];

/**
 * A clip whose bytes are settled, and which is planned anew whenever it is read: its head and tables, which may have
 * megabytes, are held by nobody meanwhile. Recordings don't change, and of one that is being written the end is fixed.
 */
export class PinnedClip {
  readonly contentBytes: number;
  readonly durationMs: number;
  readonly etag: string;
  readonly lastModifiedMs: number;
  /** What the wall clock showed at the first picture and at the end. */
  readonly beginMs: number;
  readonly endMs: number;
  #ranges: readonly ClipRange[];
  readonly #deps: PinnedClipDeps;

  private constructor(ranges: readonly ClipRange[], facts: Facts, deps: PinnedClipDeps) {
    this.contentBytes = facts.contentBytes;
    this.durationMs = facts.durationMs;
    this.etag = facts.etag;
    this.lastModifiedMs = facts.lastModifiedMs;
    const last = ranges.at(-1)!;
    this.beginMs = ranges[0]!.wallMs;
    this.endMs = last.wallMs + (last.endTicks - last.firstTicks) / TICKS_PER_MS;
    this.#ranges = ranges;
    this.#deps = deps;
  }

  /** Throws as `ClipPlanner.plan`. */
  static async of(ranges: readonly ClipRange[], deps: PinnedClipDeps): Promise<PinnedClip> {
    const clip = await deps.plan(ranges);
    clip.close();
    return new PinnedClip(ranges, clip, deps);
  }

  /** How many recordings it is made of. */
  get recordingCount(): number {
    return this.#ranges.length;
  }

  /** The clip, to be closed. Throws `export_gone` where its recordings aren't what they were, or `archive_busy`. */
  async open(): Promise<Clip> {
    const clip = await this.#planAgain();
    if (clip.contentBytes === this.contentBytes) return clip;
    clip.close();
    throw gone();
  }

  async #planAgain(): Promise<Clip> {
    try {
      return await this.#plan();
    } catch (fault) {
      if (fault instanceof AppError && lostCodes.includes(fault.code)) throw gone();
      throw fault;
    }
  }

  async #plan(): Promise<Clip> {
    try {
      return await this.#deps.plan(this.#ranges);
    } catch (fault) {
      if (!isGone(fault) || !this.#ranges.some(({ source }) => source.isOpen)) throw fault;
      this.#ranges = await Promise.all(this.#ranges.map((range) => this.#relocated(range, fault)));
      return await this.#deps.plan(this.#ranges);
    }
  }

  /** A file that was being written has another name by now. */
  async #relocated(range: ClipRange, fault: unknown): Promise<ClipRange> {
    if (!range.source.isOpen) return range;
    const source: RecordingSource | null = await this.#deps.relocate(range.source);
    if (source === null) throw fault;
    return { ...range, source };
  }
}

const gone = () => archiveError('export_gone', 'the recordings of this export are no more what they were');
