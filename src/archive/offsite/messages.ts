import type { LogFields, LogLevel } from '../../base/log.js';
import type { S3Address } from '../../base/s3-address.js';
import type { ClockEra } from '../keep/clock-eras.js';
import type { ExpiryLimit, ProtectedSpan } from '../keep/delete-files.js';
import type { TimeSpan } from '../keep/kept-spans.js';

/** What the thread that copies is started with. */
export type CopierSetup = {
  readonly archiveDir: string;
  readonly copiesDir: string;
  /** See `root-state.ts`. */
  readonly root: SharedArrayBuffer;
  readonly address: S3Address;
  readonly ca: Buffer | null;
  readonly box: string;
  /** Other boxes of a cluster put recordings there, too. */
  readonly isShared: boolean;
  /** Null: as fast as it goes. */
  readonly mbit: number | null;
};

/** Of recordings that begin then or later it isn't decided yet whether they stay. */
export type Held = readonly (readonly [cameraId: string, fromMs: number])[];

/** Recordings that somebody wants gone: by name, and all that lie within a time. */
export type Unwanted = {
  readonly fromMs: number;
  readonly toMs: number;
  readonly fileNames: readonly string[];
};

/** A recording of which only some is kept by now, on the disk. */
export type Partly = { readonly fileName: string; readonly kept: readonly TimeSpan[] };

/** What is due in the store, as it is on the disk. */
export type CopyExpiry = {
  /** All cameras that there are, or that left recordings. */
  readonly cameraIds: readonly string[];
  readonly limits: readonly ExpiryLimit[];
  readonly eras: readonly ClockEra[];
  readonly spared: readonly ProtectedSpan[];
  /** What ended before and is in the store leaves the disk; null: nothing does. */
  readonly localBeforeMs: number | null;
  /** Of a box that is one of several; else none has anything to delete of another one's. */
  readonly cluster?: ClusterNow | undefined;
};

/** Who is here, and what this box has. */
export type ClusterNow = {
  readonly boxes: readonly string[];
  /** Whoever isn't among them is away: a majority is heard. */
  readonly isSure: boolean;
  readonly cameraIds: readonly string[];
};

/** How copying goes. */
export type CopyState = {
  /** Recordings that are yet to be copied, and when the oldest of them began; null: there is none. */
  readonly waiting: number;
  readonly oldestMs: number | null;
  /** Since the thread began. */
  readonly copied: number;
  readonly copiedBytes: number;
  readonly deleted: number;
  readonly failed: number;
  /** Why nothing can be copied now; null: it can. */
  readonly fault: string | null;
  /** Why one of those that wait couldn't be copied, while others may be; null: none is known. */
  readonly fileFault: string | null;
  /** Why nothing can be deleted there now; null: it can. */
  readonly deletionFault: string | null;
  /** The store did what it was asked since the last fault, or since the thread began. */
  readonly isUp: boolean;
  /** It can't be reached: then nothing can be read there, either. */
  readonly isAway: boolean;
  /** Recordings in the store, by camera, without those that are to be deleted there; of cameras of which that is known. */
  readonly kept: Readonly<Record<string, number>>;
  /** Other boxes of which something is known to be there. */
  readonly otherBoxes: readonly string[];
};

export type ToCopier =
  | { readonly type: 'held'; readonly held: Held }
  | { readonly type: 'look' }
  /** It was away for whoever reads there. */
  | { readonly type: 'doubt' }
  /** Something that is known to be there of a camera isn't. */
  | { readonly type: 'relist'; readonly cameraId: string }
  | { readonly type: 'expire'; readonly expiry: CopyExpiry }
  | {
      readonly type: 'forget';
      readonly id: number;
      readonly cameraId: string;
      readonly unwanted: Unwanted;
    }
  | { readonly type: 'epoch'; readonly id: number; readonly epoch: number }
  | { readonly type: 'replace'; readonly cameraId: string; readonly wholes: readonly Partly[] }
  | { readonly type: 'stop' };

export type FromCopier =
  | { readonly type: 'thread'; readonly stats: SharedArrayBuffer }
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly fields: LogFields }
  | { readonly type: 'state'; readonly state: CopyState }
  /** By which claim its camera was held when a recording began. */
  | { readonly type: 'epoch'; readonly id: number; readonly cameraId: string; readonly startMs: number }
  /** `count`: null where the disk refused. */
  | { readonly type: 'forgotten'; readonly id: number; readonly count: number | null };
