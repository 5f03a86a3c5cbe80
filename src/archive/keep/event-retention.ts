import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { type FilePlace, placeKey } from '../files/archive-folders.js';
import { parseRecordingName } from '../files/file-name.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { Partly } from '../offsite/messages.js';
import type { Copies } from '../offsite/offsite.js';
import type { ClockEra } from './clock-eras.js';
import type { AgePlace, Deletions, ProtectedSpan } from './delete-files.js';
import {
  type EventTimesOf,
  joined,
  longestHoleMs,
  POST_ROLL_MS,
  PRE_ROLL_MS,
  spansOf,
  type TimeSpan,
} from './kept-spans.js';

export type EventRetentionDeps = {
  readonly runner: JobRunner;
  readonly log: Logger;
  readonly times: EventTimesOf;
  readonly copies?: Pick<Copies, 'forget' | 'pathOf' | 'replace'> | undefined;
};

/** A camera of whose older recordings something stays. */
export type EventLimit = {
  readonly cameraId: string;
  /** Of what was made before, what belongs to no event goes. */
  readonly beforeMs: number;
  /** Whether events keep their recordings, or protected ones alone. */
  readonly areEventsKept: boolean;
};

/** What is cut ends at keyframes, and names tell seconds: what is less than that too much isn't looked into again. */
const MOST_TOO_MUCH_MS = 4_000;
/** Recordings of which it is asked at once when events were: some milliseconds of the main thread. */
const AT_ONCE = 50;
/** Each time a folder is listed as a whole, which takes long where it is large: many are taken of it at a time. */
const LISTED_AT_ONCE = 10_000;
/** Of those that may go for want of space: a round has an end, and goes on at the next. */
const MOST_PAGES = 20;

const NO_TIME = { fromMs: Number.POSITIVE_INFINITY, toMs: Number.NEGATIVE_INFINITY };

type Kept = 'all' | readonly TimeSpan[];

const isNothing = (kept: Kept): boolean => kept !== 'all' && kept.length === 0;

const noDeletions: Deletions = { deleted: [], failed: [] };

/** Lets go of what lies between events, where these outlive all else: by age, and first where space is short. */
export class EventRetention {
  readonly #archiveDir: string;
  readonly #deps: EventRetentionDeps;
  /** Up to there all that may go for want of space belongs to events. */
  #evictedTo: AgePlace | null = null;
  #isFailing = false;

  constructor(options: { readonly archiveDir: string }, deps: EventRetentionDeps) {
    this.#archiveDir = options.archiveDir;
    this.#deps = deps;
  }

  /** Of what a camera recorded before its limit, leaves what belongs to events, or is protected. */
  async expire(
    { cameraId, beforeMs, areEventsKept }: EventLimit,
    eras: readonly ClockEra[],
    spared: readonly ProtectedSpan[],
    mayGoOn: () => boolean,
  ): Promise<Deletions> {
    this.#evictedTo = null;
    const deleted: FilePlace[] = [];
    const input = { archiveDir: this.#archiveDir, cameraId, beforeMs, eras, count: LISTED_AT_ONCE };
    for (let afterMs = Number.NEGATIVE_INFINITY; mayGoOn(); ) {
      const listed = await this.#deps.runner.run('closedBefore', { ...input, afterMs });
      for (let at = 0; at < listed.length && mayGoOn(); at += AT_ONCE) {
        await nextTurn();
        const kept = listed
          .slice(at, at + AT_ONCE)
          .map(
            ({ fileName }) =>
              [fileName, this.#keptOf({ cameraId, fileName }, areEventsKept, spared)] as const,
          );
        for (const [fileName, spans] of kept) {
          if (spans === 'all' || !mayGoOn()) continue;
          if (isNothing(spans) && !(await this.#forgetCopies(cameraId, [fileName]))) continue;
          if ((await this.#cut({ cameraId, fileName }, spans)) === 'deleted')
            deleted.push({ cameraId, fileName });
        }
      }
      if (listed.length < LISTED_AT_ONCE) break;
      afterMs = listed.at(-1)!.startMs;
    }
    if (areEventsKept) await this.#expireStored(input, spared, mayGoOn);
    return { ...noDeletions, deleted };
  }

  /** What a store has isn't cut: it goes where none of it belongs to an event, or all that does is there in pieces; else it stays whole. */
  async #expireStored(
    {
      cameraId,
      ...bounds
    }: { readonly cameraId: string; readonly beforeMs: number; readonly eras: readonly ClockEra[] },
    spared: readonly ProtectedSpan[],
    mayGoOn: () => boolean,
  ): Promise<void> {
    const { copies, runner } = this.#deps;
    if (copies === undefined) return;
    const input = { ...bounds, path: copies.pathOf(cameraId), count: LISTED_AT_ONCE };
    for (let afterMs = Number.NEGATIVE_INFINITY; mayGoOn(); ) {
      const listed = await runner.run('storedBefore', { ...input, afterMs });
      for (let at = 0; at < listed.length && mayGoOn(); at += AT_ONCE) {
        await nextTurn();
        const wholes: Partly[] = [];
        const going: string[] = [];
        for (const { fileName } of listed.slice(at, at + AT_ONCE)) {
          const kept = this.#keptOf({ cameraId, fileName }, true, spared);
          if (kept === 'all') continue;
          if (kept.length === 0) going.push(fileName);
          else wholes.push({ fileName, kept });
        }
        if (going.length > 0 && !(await this.#forgetCopies(cameraId, going))) return;
        if (wholes.length > 0) copies.replace(cameraId, wholes);
      }
      if (listed.length < LISTED_AT_ONCE) return;
      afterMs = listed.at(-1)!.startMs;
    }
  }

  /**
   * Makes room of what belongs to no event, the oldest first; `cameraIds`: of which events are worth more than all else. False:
   * that wasn't enough, or in a whole round nothing was found.
   */
  async makeRoom(
    cameraIds: ReadonlySet<string>,
    bounds: {
      readonly minFreePercent: number;
      readonly eras: readonly ClockEra[];
      readonly skip: readonly string[];
      readonly spared: readonly ProtectedSpan[];
    },
    report: (round: Deletions) => void,
  ): Promise<boolean> {
    const { runner } = this.#deps;
    const { minFreePercent, eras, spared } = bounds;
    const archiveDir = this.#archiveDir;
    const evict = { archiveDir, ...bounds, maxFiles: AT_ONCE };
    const skip = new Set(bounds.skip);
    let { freePercent } = await runner.run('evictOldest', { ...evict, only: [] });
    let isFreed = freePercent >= minFreePercent;
    for (let pages = 0; pages < MOST_PAGES && freePercent < minFreePercent; pages += 1) {
      const after = this.#evictedTo;
      const input = { archiveDir, eras, after, count: AT_ONCE, skip: [...skip], spared };
      const page = await runner.run('oldestRecordings', input);
      if (page.length === 0) return false;
      const only: string[] = [];
      for (const place of page) {
        const kept = cameraIds.has(place.cameraId) ? this.#keptOf(place, true, spared) : [];
        if (kept === 'all') continue;
        if (kept.length === 0) only.push(placeKey(place));
        else if ((await this.#cut(place, kept)) === 'cut') isFreed = true;
      }
      const round = await runner.run('evictOldest', { ...evict, only });
      report(round);
      freePercent = round.freePercent;
      isFreed ||= round.deleted.length > 0;
      // What was deleted is enough, though it doesn't show yet.
      if (round.deleted.length + round.failed.length < only.length) return true;
      this.#evictedTo = page.at(-1)!.place;
    }
    return isFreed;
  }

  /** What of a recording is kept; `all` where nothing needs to be cut, or nobody knows. */
  #keptOf({ cameraId, fileName }: FilePlace, areEventsKept: boolean, spared: readonly ProtectedSpan[]): Kept {
    const { startMs = 0, endMs = null } = parseRecordingName(fileName) ?? {};
    // One that was moved aside can't be played, and has nothing of an event.
    if (endMs === null) return [];
    const ofCamera = spared.filter(
      (span) => span.cameraId === cameraId && span.fromMs <= endMs && span.toMs >= startMs,
    );
    const known = areEventsKept
      ? this.#deps.times(cameraId, startMs - POST_ROLL_MS, endMs + PRE_ROLL_MS)
      : null;
    if (areEventsKept && (known === null || startMs < known.sinceMs)) return 'all';
    const spans = joined([...ofCamera, ...spansOf(known?.events ?? [])]);
    if (spans.length === 0) return [];
    return longestHoleMs({ fromMs: startMs, toMs: endMs }, spans) <= MOST_TOO_MUCH_MS ? 'all' : spans;
  }

  /** What goes as a whole, by its age, goes from the store, too, which is to be certain first. Else it waits for the next round. */
  async #forgetCopies(cameraId: string, fileNames: readonly string[]): Promise<boolean> {
    try {
      await this.#deps.copies?.forget(cameraId, { ...NO_TIME, fileNames });
      return true;
    } catch (fault) {
      this.#tell({ cameraId, fileName: fileNames[0] ?? '' }, fault);
      return false;
    }
  }

  /** Once, not for each. */
  #tell({ cameraId, fileName }: FilePlace, fault: unknown): void {
    if (!this.#isFailing)
      this.#deps.log.warn('could not cut a recording to what belongs to events', {
        ...{ camera_id: cameraId, file: fileName },
        reason: messageOf(fault),
      });
    this.#isFailing = true;
  }

  /** One that the disk refuses stays whole for now: those behind it are not to wait, and the oldest may go as a whole. */
  async #cut({ cameraId, fileName }: FilePlace, kept: readonly TimeSpan[]): Promise<string> {
    const { log, runner } = this.#deps;
    const place = { camera_id: cameraId, file: fileName };
    try {
      const input = { archiveDir: this.#archiveDir, cameraId, fileName, kept };
      const { outcome, names } = await runner.run('cutRecording', input);
      this.#isFailing = false;
      if (outcome === 'cut')
        log.info('cut a recording to what belongs to events', { ...place, names: names.join(' ') });
      return outcome;
    } catch (fault) {
      // A bad sector, or no room for what it is cut to.
      this.#tell({ cameraId, fileName }, fault);
      return 'failed';
    }
  }
}
