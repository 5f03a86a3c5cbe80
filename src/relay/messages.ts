import type { LogFields, LogLevel } from '../base/log.js';
import type { SeenThere } from './wire/texts.js';

/** What the sending thread is started with. */
export type RelayThreadOptions = {
  readonly box: string;
  readonly host: string;
  readonly port: number;
  /** What all boxes have for this, and nobody else. */
  readonly key: Uint8Array;
};

/** What becomes of a question: JSON, and bytes beside it. */
export type AskAnswer = {
  readonly fault: { readonly code: string; readonly message: string } | null;
  readonly content: Readonly<Record<string, unknown>>;
  readonly bytes: Uint8Array<ArrayBuffer> | null;
};

/** What the main thread tells the sending thread. */
export type ToRelayThread =
  /**
   * Where a source's frames are from now on; `bellId` names the bell, which is another object in each thread. `path` are the
   * boxes that they come by before this one; null: that isn't known yet.
   */
  | {
      readonly type: 'feed';
      readonly source: string;
      readonly ring: SharedArrayBuffer;
      readonly bell: SharedArrayBuffer;
      readonly bellId: number;
      readonly path: readonly string[] | null;
    }
  /** There is no such camera, or not any more. */
  | { readonly type: 'gone'; readonly source: string }
  | { readonly type: 'answer'; readonly id: number; readonly answer: AskAnswer }
  /** What is seen in a picture of a source that some box asks for. */
  | { readonly type: 'seen'; readonly source: string; readonly seen: SeenThere }
  /** Ends all pulls, then the thread. */
  | { readonly type: 'stop' };

/** What the thread sends, since its start where nothing else is said. */
export type RelayFigures = {
  /** Sources that other boxes pull now, each box for itself. */
  readonly pulls: number;
  readonly bytes: number;
  /** Video frames that links had no room for. */
  readonly droppedFrames: number;
  /** For how long what the slowest link was sent has not been read, now. */
  readonly lagMs: number;
};

/** What the sending thread tells the main thread. */
export type FromRelayThread =
  /** Once, first of all: where the thread publishes its figures (base/thread-stats.ts). */
  | { readonly type: 'thread'; readonly stats: SharedArrayBuffer }
  | { readonly type: 'listening'; readonly port: number }
  /** It can't listen, and is of no use. */
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  /** Some box asks for the source, from now on or no more. */
  | { readonly type: 'wanted'; readonly source: string; readonly isWanted: boolean }
  /** Some box asks for something else. */
  | {
      readonly type: 'asked';
      readonly id: number;
      readonly box: string;
      readonly question: Readonly<Record<string, unknown>>;
    }
  /** Once a second. */
  | { readonly type: 'figures'; readonly figures: RelayFigures }
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly fields: LogFields };
