import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { isS3Error } from '../../s3/errors.js';
import type { S3Client } from '../../s3/s3-client.js';
import { closedName, parseRecordingName } from '../files/file-name.js';
import { statFile } from '../files/scan-folder.js';
import { EraOrder } from '../keep/clock-eras.js';
import { protectionBy } from '../keep/delete-files.js';
import { longestHoleMs, type TimeSpan } from '../keep/kept-spans.js';
import { isPieceOf, type Recording } from '../list/recording.js';
import type { Absences } from './absences.js';
import { type Copy, copyKey, keyOf, timesOfKey } from './copy.js';
import type { CopyTable } from './copy-table.js';
import { faultWords } from './fault-words.js';
import type { ClusterNow, CopyExpiry, Partly, Unwanted } from './messages.js';
import type { Notes } from './notes.js';
import { objectOf, parseObjectName, sidecarObject } from './object-name.js';
import type { OtherCopies } from './other-copies.js';
import type { Outbox } from './outbox.js';
import { Patience } from './patience.js';
import { copyOfSending, Settler, type SettlerDeps } from './settler.js';
import type { Ended, Sending } from './stored-outbox.js';
import { listed, staysBy } from './unwanted.js';

export type DeparturesDeps = {
  readonly client: Pick<S3Client, 'head' | 'delete' | 'list' | 'abortUpload' | 'listUploads'>;
  readonly log: Logger;
  readonly nowMs: () => number;
  readonly wallMs: () => number;
  readonly notes: Notes;
  readonly outbox: Outbox;
  /** What other boxes put there; nothing: this one is alone. */
  readonly others?: OtherCopies | undefined;
  readonly absences?: Absences | undefined;
  /** What is in the store of a camera is otherwise now. */
  readonly onChange: (cameraId: string) => void;
};

/** What is being copied now. */
type Watched = { readonly cameraId: string; readonly fileName: string; isUnwanted: boolean };

/** Objects that go before it is written that they did. */
const DELETED_AT_ONCE = 64;
/** Others of the thread's work are to have their turn. */
const STEP_MS = 30_000;
const FIRST_REST_MS = 10_000;
/** A part that was on its way when its upload was ended may be put there behind that, with the upload begun anew for it. */
const END_AGAIN_MS = 5_000;
const LONGEST_REST_MS = 3_600_000;
/** The same while the store is away. */
const LONGEST_AWAY_MS = 120_000;

/** An upload that nobody remembers may be under way by a box of the same name. */
const ORPHAN_MS = 86_400_000;
const ORPHANS_AGAIN_MS = 6 * 3_600_000;
/** So long a box that is away may take to come back: it alone knows which of what it put there is protected. */
const AWAY_MS = 30 * 86_400_000;
/** What a recording and its pieces say of the same moment may differ by. */
const INEXACT_MS = 500;

/** No camera's id, and no object's name. */
const WISHES = 'wishes';

const noName = { epoch: 0, box: '' };

/** The first of those that are to be deleted. */
const leavingIn = (copies: CopyTable | null): Copy[] => {
  const found: Copy[] = [];
  for (let index = 0; index < (copies?.count ?? 0) && found.length < DELETED_AT_ONCE; index += 1)
    if (copies!.isLeavingAt(index)) found.push(copies!.at(index));
  return found;
};

/** What the store has of a recording by other names, but for what goes itself. */
const piecesOf = (copies: CopyTable, whole: Copy, going: ReadonlySet<number>): TimeSpan[] => {
  const { startMs, endMs } = whole.recording;
  const pieces: TimeSpan[] = [];
  for (let index = copies.indexFrom(copyKey(startMs, startMs)); index < copies.count; index += 1) {
    const key = copies.keyAt(index);
    if (timesOfKey(key).startMs > (endMs ?? startMs)) break;
    if (key === keyOf(whole) || going.has(key) || copies.isLeavingAt(index)) continue;
    const copy = copies.at(index);
    const piece = listed(copy);
    if (copy.box === whole.box && isPieceOf(piece, listed(whole)))
      pieces.push({ fromMs: piece.startMs, toMs: piece.endMs });
  }
  return pieces.sort((a, b) => a.fromMs - b.fromMs);
};

/** Whether pieces have all that is kept of a recording. */
const hasAll = (pieces: readonly TimeSpan[], whole: Recording, kept: readonly TimeSpan[]): boolean => {
  const had = pieces.map(({ fromMs, toMs }) => ({ fromMs: fromMs - INEXACT_MS, toMs: toMs + INEXACT_MS }));
  return kept.every((one) => {
    const span = { fromMs: Math.max(one.fromMs, whole.startMs), toMs: Math.min(one.toMs, whole.endMs) };
    if (span.toMs < span.fromMs) return had.length > 0;
    // Of a moment there is no hole.
    const isBegun = had.some(({ fromMs, toMs }) => fromMs <= span.fromMs && toMs >= span.fromMs);
    return isBegun && longestHoleMs(span, had) === 0;
  });
};

/** What is to go from the store: by age, on request, or since nobody knows of it any more. It never holds up what is copied. */
export class Departures {
  readonly #options: { readonly archiveDir: string; readonly box: string };
  readonly #deps: DeparturesDeps;
  readonly #settler: Settler;
  readonly #patience = new Patience(FIRST_REST_MS, LONGEST_REST_MS);
  readonly #forStore = new Patience(FIRST_REST_MS, LONGEST_AWAY_MS);
  #order = new EraOrder([]);
  /** Until when each camera's are kept. */
  #beforeMs = new Map<string, number>();
  #isProtected = protectionBy([]);
  /** When uploads are ended once more, by their IDs. */
  readonly #endAgainMs = new Map<string, number>();
  /** When uploads are looked at that nobody remembers. */
  #orphansMs = Number.NEGATIVE_INFINITY;
  /** So long a step may go on. */
  #untilMs = 0;
  #awayUntilMs = Number.NEGATIVE_INFINITY;
  #watched: Watched | null = null;
  #said: string | null = null;
  /** What went wrong last of what is to go, or to be looked at. */
  readonly #failing = new Set<string>();
  deleted = 0;
  failed = 0;
  /** Why nothing can be deleted there now; null: it can. */
  fault: string | null = null;

  constructor(options: { readonly archiveDir: string; readonly box: string }, deps: DeparturesDeps) {
    this.#options = options;
    this.#deps = deps;
    const isDue: SettlerDeps['isDue'] = (...of) => this.isDue(...of);
    const endUpload: SettlerDeps['endUpload'] = (...of) => this.#endFirst(...of);
    this.#settler = new Settler(options.archiveDir, { ...deps, isDue, endUpload });
  }

  /** The store did something again: an upload whose beginning it told nobody of may be there. */
  lookForOrphans(): void {
    this.#orphansMs = Number.NEGATIVE_INFINITY;
  }

  /** They are no recordings any more, and will be deleted in the store; how many of them are known. Synced, or it throws. */
  forget(cameraId: string, unwanted: Unwanted): number {
    const { notes, outbox, wallMs } = this.#deps;
    const count = this.#mark(cameraId, unwanted);
    const isKnown = notes.read(cameraId) !== null;
    const isSure = isKnown && !notes.unsure.has(cameraId);
    // What isn't known may be there by the same names; of what is known the marks may be lost before it is gone.
    if (!isSure || (notes.leaving.has(cameraId) && outbox.mayWish))
      outbox.wish({ cameraId, ...unwanted, markedMs: isKnown ? wallMs() : null });
    const watched = this.#watched;
    const range = watched?.cameraId === cameraId ? parseRecordingName(watched.fileName) : null;
    const copy = range && copyOfSending({ ...noName, recording: range }, null);
    if (watched !== null && copy !== null && !staysBy(unwanted)(copy)) watched.isUnwanted = true;
    return count;
  }

  /** Of a camera that was listed: what somebody wanted gone before it was found. */
  wishedOf(cameraId: string): (copy: Copy) => boolean {
    const wishes = this.#deps.outbox.wishes.filter((wish) => wish.cameraId === cameraId);
    const means = wishes.map((wish) => {
      const [stays, beforeMs] = [staysBy(wish), wish.markedMs ?? Number.POSITIVE_INFINITY];
      return (copy: Copy): boolean => copy.recording.startMs < beforeMs && !stays(copy);
    });
    return (copy) => means.some((isMeant) => isMeant(copy));
  }

  /** Marks what is known; how many copies. */
  #mark(cameraId: string, unwanted: Unwanted): number {
    const { notes, outbox } = this.#deps;
    const stays = staysBy(unwanted);
    for (const sending of outbox.sendings) {
      const name = parseObjectName(sending.object);
      if (name?.cameraId !== cameraId || sending.isUnwanted) continue;
      if (!stays(copyOfSending(name, sending))) outbox.set({ ...sending, isUnwanted: true });
    }
    let count = 0;
    for (const one of [notes, ...this.#ofOthers()])
      if (one.read(cameraId) !== null)
        count += one.leave(cameraId, (copies, index) => !stays(copies.at(index)));
    return count;
  }

  /** With what tells their cameras from those of others. */
  #allNotes(): [of: string, notes: Notes][] {
    const others = [...(this.#deps.others ?? [])];
    return [['', this.#deps.notes], ...others.map(([box, notes]): [string, Notes] => [`${box}/`, notes])];
  }

  #ofOthers(): Notes[] {
    return [...(this.#deps.others ?? [])].map(([, notes]) => notes);
  }

  /** What was wished while nothing was known, or the store wasn't set, and what became of the others. */
  #seeToWishes(): void {
    const { notes, outbox, wallMs } = this.#deps;
    for (const wish of outbox.wishes)
      if (wish.markedMs === null && notes.read(wish.cameraId) !== null) this.#mark(wish.cameraId, wish);
    for (const cameraId of new Set(outbox.wishes.map((wish) => wish.cameraId))) {
      if (notes.read(cameraId) === null) continue;
      outbox.marked(cameraId, wallMs());
      if (!notes.unsure.has(cameraId) && !notes.leaving.has(cameraId)) outbox.fulfil(cameraId);
    }
  }

  /** A recording is copied from now on; the function tells whether somebody wanted it gone meanwhile. */
  watch(cameraId: string, fileName: string): () => boolean {
    const watched = { cameraId, fileName, isUnwanted: false };
    this.#watched = watched;
    return () => watched.isUnwanted;
  }

  /** The same of all that is older than its camera keeps it. */
  expire({ limits, eras, spared, cluster }: CopyExpiry): void {
    const { notes } = this.#deps;
    this.#order = new EraOrder(eras);
    this.#isProtected = protectionBy(spared);
    this.#beforeMs = new Map(limits.map(({ cameraId, beforeMs }) => [cameraId, beforeMs]));
    const faults: unknown[] = [];
    for (const { cameraId } of limits) {
      if ((notes.kept.get(cameraId) ?? 0) === 0) continue;
      try {
        notes.leave(cameraId, (copies, index) => {
          const { startMs, endMs } = timesOfKey(copies.keyAt(index));
          return this.isDue(cameraId, startMs, endMs);
        });
      } catch (fault) {
        // A file that takes nothing more holds up no other camera's.
        faults.push(fault);
      }
    }
    const { others, absences } = this.#deps;
    try {
      if (cluster !== undefined && others !== undefined) absences?.look(cluster, others.boxes);
    } catch (fault) {
      faults.push(fault);
    }
    try {
      this.#expireOfOthers(cluster);
    } catch (fault) {
      faults.push(fault);
    }
    if (faults.length > 0) throw faults[0];
  }

  /**
   * What a box put there that has been away for a month is deleted by whoever has its camera now, a month later than by itself;
   * of a purged camera all of it by anybody.
   */
  #expireOfOthers(cluster: ClusterNow | undefined): void {
    const { others, absences } = this.#deps;
    if (cluster === undefined || others === undefined) return;
    const owned = new Set(cluster.cameraIds);
    for (const [box, notes] of others) {
      const isGone = absences?.isAwayFor(box, AWAY_MS) === true;
      for (const [cameraId, count] of [...notes.kept]) {
        const isPurged = this.#beforeMs.get(cameraId) === Number.POSITIVE_INFINITY;
        if (count === 0 || !(isPurged || (owned.has(cameraId) && isGone))) continue;
        notes.leave(cameraId, (copies, index) => {
          const { startMs, endMs } = timesOfKey(copies.keyAt(index));
          return this.isDue(cameraId, startMs, endMs, AWAY_MS);
        });
      }
    }
    others.removeBare();
  }

  /**
   * Of recordings that are cut on the disk to what is kept, those go of which pieces in the store have all of that. Where a piece
   * never got there, or something is kept that no piece has, since space was short then, the whole stays.
   */
  replace(cameraId: string, wholes: readonly Partly[]): void {
    const { notes } = this.#deps;
    const copies = notes.read(cameraId);
    // What is written of a piece may be all that there is of it.
    if (copies === null || notes.unsure.has(cameraId)) return;
    const folder = join(this.#options.archiveDir, cameraId);
    const going = new Set<number>();
    for (const { fileName, kept } of wholes) {
      const { startMs, endMs } = parseRecordingName(fileName) ?? {};
      if (startMs === undefined || endMs == null) continue;
      const key = copyKey(startMs, endMs);
      const whole = copies.find(key);
      if (whole === null || whole.isLeaving || !hasAll(piecesOf(copies, whole, going), listed(whole), kept))
        continue;
      if (statFile({ folder, fileName }) === null) going.add(key);
    }
    notes.leave(cameraId, (table, index) => going.has(table.keyAt(index)));
  }

  /** Whether a recording is older than its camera keeps it, or so much older. */
  isDue(cameraId: string, startMs: number, endMs: number, byMs = 0): boolean {
    const beforeMs = this.#beforeMs.get(cameraId) ?? Number.NEGATIVE_INFINITY;
    if (!(this.#order.rightEndMs(endMs) + byMs < beforeMs)) return false;
    const isPurged = beforeMs === Number.POSITIVE_INFINITY;
    return isPurged || !this.#isProtected({ cameraId, fileName: closedName(startMs, endMs) });
  }

  /** Deletes some of what is due, whatever the store says: it never throws. Whether there is more that may go at once. */
  async step(signal: AbortSignal): Promise<boolean> {
    const { outbox, nowMs } = this.#deps;
    this.#untilMs = nowMs() + STEP_MS;
    try {
      // Whatever the store does: nothing may be copied before.
      this.#seeToWishes();
      this.#recover(WISHES);
    } catch (fault) {
      this.#fail(WISHES, fault);
    }
    if (this.#orphansMs <= nowMs())
      await this.#try('orphans', signal, async () => {
        await this.#endOrphans(signal);
        this.#orphansMs = nowMs() + ORPHANS_AGAIN_MS;
      });
    this.#forgetSettled();
    // Before others are added: just so many are written down.
    for (const ended of outbox.ended) await this.#try(ended.uploadId, signal, () => this.#end(ended, signal));
    for (const sending of outbox.sendings)
      await this.#try(sending.object, signal, () => this.#settler.settle(sending, signal));
    const isDue = ([, fromMs]: readonly [string, number]): boolean => fromMs <= nowMs();
    let isMore = false;
    for (const [of, one] of this.#allNotes()) {
      for (const [cameraId] of [...one.leaving].filter(isDue))
        await this.#try(of + cameraId, signal, () => this.#deleteLeaving(one, cameraId, signal));
      isMore ||= [...one.leaving].some((leaving) => isDue(leaving) && !this.#isWaiting(of + leaving[0]));
    }
    return isMore;
  }

  async #endFirst({ object, uploadId }: Sending, signal: AbortSignal): Promise<void> {
    if (uploadId === null) return;
    const { client, outbox, nowMs } = this.#deps;
    await client.abortUpload(object, uploadId, signal);
    this.#endAgainMs.set(uploadId, nowMs() + END_AGAIN_MS);
    outbox.abandon(object);
  }

  /** Twice, as S3 wants it of whoever ends an upload while parts of it are sent. */
  async #end(ended: Ended, signal: AbortSignal): Promise<void> {
    const { client, outbox, nowMs } = this.#deps;
    const { object, uploadId } = ended;
    const againMs = this.#endAgainMs.get(uploadId);
    if (againMs !== undefined && nowMs() < againMs) return;
    await client.abortUpload(object, uploadId, signal);
    if (againMs === undefined) {
      this.#endAgainMs.set(uploadId, nowMs() + END_AGAIN_MS);
      return;
    }
    outbox.forgetEnded(ended);
    this.#endAgainMs.delete(uploadId);
  }

  get #mayGoOn(): boolean {
    return this.#deps.nowMs() < this.#untilMs;
  }

  async #try(key: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    if (signal.aborted || this.#isWaiting(key) || !this.#mayGoOn) return;
    try {
      await work();
      this.#recover(key);
    } catch (fault) {
      if (!signal.aborted) this.#fail(key, fault);
    }
  }

  #fail(key: string, fault: unknown): void {
    const { nowMs, log } = this.#deps;
    const isAway = isS3Error(fault, 's3_unavailable');
    // One that is silent isn't waited for by each in turn.
    if (isAway) this.#awayUntilMs = nowMs() + FIRST_REST_MS;
    (isAway ? this.#forStore : this.#patience).fail(key, nowMs());
    this.#failing.add(key);
    this.failed += 1;
    const reason = messageOf(fault);
    if (this.#said !== reason) log.warn('the store deletes nothing now', { reason });
    this.#said = reason;
    this.fault = faultWords(fault);
  }

  /** What was copied after all, or is nothing to look at any more for another reason, fails no more. */
  #forgetSettled(): void {
    const { outbox } = this.#deps;
    const leaving = this.#allNotes().flatMap(([of, notes]) => [...notes.leaving.keys()].map((id) => of + id));
    const left = new Set([
      ...['orphans', WISHES, ...leaving],
      ...outbox.sendings.map(({ object }) => object),
      ...outbox.ended.map(({ uploadId }) => uploadId),
    ]);
    for (const key of [...this.#failing]) if (!left.has(key)) this.#recover(key);
    for (const uploadId of [...this.#endAgainMs.keys()])
      if (!left.has(uploadId)) this.#endAgainMs.delete(uploadId);
  }

  #isWaiting(key: string): boolean {
    const nowMs = this.#deps.nowMs();
    return (
      nowMs < this.#awayUntilMs ||
      this.#patience.isWaiting(key, nowMs) ||
      this.#forStore.isWaiting(key, nowMs)
    );
  }

  #recover(key: string): void {
    this.#patience.forget(key);
    this.#forStore.forget(key);
    if (!this.#failing.delete(key) || this.#failing.size > 0) return;
    this.#deps.log.info('the store deletes again');
    this.fault = null;
    this.#said = null;
  }

  /** Begun by a run that was killed before it could write down that. A box of the same name may have other cameras, or be at it. */
  async #endOrphans(signal: AbortSignal): Promise<void> {
    const { client, outbox, wallMs } = this.#deps;
    const known = new Set(outbox.sendings.map(({ uploadId }) => uploadId));
    for (const { name, uploadId, begunMs } of await client.listUploads(signal)) {
      const { box, cameraId = '' } = parseObjectName(name) ?? {};
      const isOld = begunMs !== null && begunMs < wallMs() - ORPHAN_MS;
      const isOurs = box === this.#options.box && this.#isOfHere(cameraId);
      if (isOld && isOurs && !known.has(uploadId)) await client.abortUpload(name, uploadId, signal);
    }
  }

  #isOfHere(cameraId: string): boolean {
    return this.#deps.notes.kept.has(cameraId) || existsSync(join(this.#options.archiveDir, cameraId));
  }

  /** Some of them: what is marked meanwhile has its own time. */
  async #deleteLeaving(notes: Notes, cameraId: string, signal: AbortSignal): Promise<void> {
    const { client, onChange } = this.#deps;
    const gone = new Set<number>();
    try {
      for (const copy of leavingIn(notes.read(cameraId))) {
        if (gone.size > 0 && !this.#mayGoOn) break;
        const object = objectOf(cameraId, copy);
        await client.delete(sidecarObject(object), signal);
        await client.delete(object, signal);
        gone.add(keyOf(copy));
      }
    } finally {
      // Read anew: what was copied meanwhile is another one.
      const copies = notes.read(cameraId);
      const left = [...gone].filter((key) => copies?.find(key)?.isLeaving === true);
      notes.change(
        cameraId,
        left.map((key) => ({ key, copy: null })),
      );
      this.deleted += gone.size;
      if (gone.size > 0) onChange(cameraId);
    }
    if (leavingIn(notes.read(cameraId)).length === 0) notes.leaving.delete(cameraId);
  }

  /** Nothing is left of cameras that no rule names. */
  removeBare(ruled: ReadonlySet<string>): void {
    const { notes, outbox } = this.#deps;
    for (const [cameraId, count] of [...notes.kept]) {
      if (count > 0 || ruled.has(cameraId) || notes.leaving.has(cameraId)) continue;
      const isBare = notes.read(cameraId)?.count === 0;
      const isSent = outbox.sendings.some(({ object }) => parseObjectName(object)?.cameraId === cameraId);
      if (isBare && !isSent && !existsSync(join(this.#options.archiveDir, cameraId))) notes.remove(cameraId);
    }
  }
}
