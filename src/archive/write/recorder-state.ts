import type { StartReason } from '../../fmp4/start-reason.js';
import type { GrowingFile } from './growing-file.js';

/** The file before, which was rolled over, while sound of its time may come. */
export type Tail = { readonly file: GrowingFile; readonly sinceMs: number };

/** There is no file, and nothing was lost: what comes before a keyframe nobody can play. */
type Waits = {
  readonly kind: 'waits';
  readonly file: null;
  readonly tail: Tail | null;
  /** Why the next file begins. */
  readonly reason: StartReason;
};

type Records = { readonly kind: 'records'; readonly file: GrowingFile; readonly tail: null };

type RollsOver = { readonly kind: 'rolls-over'; readonly file: GrowingFile; readonly tail: Tail };

/** Something was lost; pictures count as lost until a keyframe comes, with which the file goes on. */
type NeedsKeyToGoOn = {
  readonly kind: 'needs-key';
  readonly file: GrowingFile;
  readonly tail: Tail | null;
};

/** The same where that keyframe begins a file. */
type NeedsKeyToBegin = {
  readonly kind: 'needs-key';
  readonly file: null;
  readonly tail: Tail | null;
  readonly reason: StartReason;
};

/** The disk refused, or the folder of all recordings is gone: the ring isn't read. */
type Paused = {
  readonly kind: 'paused';
  readonly file: null;
  readonly tail: null;
  readonly retryAtMs: number;
};

/** Recording is over: nothing is read any more, and the files get their names. */
type Closes = { readonly kind: 'closes'; readonly file: null; readonly tail: null };

/** The next keyframe begins a file. */
export type Beginning = Waits | NeedsKeyToBegin;
/** There is a file. */
export type Growing = Records | RollsOver | NeedsKeyToGoOn;

/** What a recorder is at. `file`: what pictures go into. */
export type RecorderState = Beginning | Growing | Paused | Closes;

/** At first; where the file before was rolled over; at a keyframe that can't begin a file. */
export const waitingFor = (reason: StartReason, tail: Tail | null): Waits => ({
  kind: 'waits',
  file: null,
  tail,
  reason,
});

/** A keyframe came: the file begins, or goes on. */
export const growing = (file: GrowingFile, tail: Tail | null): Records | RollsOver =>
  tail === null ? { kind: 'records', file, tail } : { kind: 'rolls-over', file, tail };

/** Something of what comes next in the file is lost. */
export const afterLoss = (file: GrowingFile, tail: Tail | null): NeedsKeyToGoOn => ({
  kind: 'needs-key',
  file,
  tail,
});

/** No file could begin: too many are still to be closed. Nothing new where that was so before. */
export const afterCrowd = (state: Beginning): NeedsKeyToBegin =>
  state.kind === 'needs-key' && state.reason === 'disk'
    ? state
    : { kind: 'needs-key', file: null, tail: state.tail, reason: 'disk' };

/** The file ends, and the one before with it. What refers to something that was lost goes on being lost. */
export const afterFile = ({ kind }: Growing, reason: StartReason): Beginning =>
  kind === 'needs-key' ? { kind, file: null, tail: null, reason } : waitingFor(reason, null);

/** All sound of the file before is there, or comes too late. */
export const withoutTail = (state: RecorderState): RecorderState => {
  if (state.kind === 'rolls-over') return growing(state.file, null);
  return state.kind === 'waits' || state.kind === 'needs-key' ? { ...state, tail: null } : state;
};

/** What comes meanwhile is lost to the disk. */
export const pausedUntil = (retryAtMs: number): Paused => ({
  kind: 'paused',
  file: null,
  tail: null,
  retryAtMs,
});

/** What refers to what came during a pause is lost as well. */
export const afterPause: NeedsKeyToBegin = { kind: 'needs-key', file: null, tail: null, reason: 'disk' };

export const closing: Closes = { kind: 'closes', file: null, tail: null };
