import type { Drawable } from './screen.js';

/** A picture and the moment at which it was seen. */
export type Shown = { readonly picture: Drawable; readonly wallMs: number };

/** What brings the pictures of a camera while time goes on, in one way or another. */
export type Playing = {
  /**
   * The newest picture not after a moment, which stays the player's; null: none is there. Those before it are let go
   * (backwards: those after it).
   */
  at(timeMs: number): Shown | null;
  /** Whether what belongs to a moment is there, or known to be missing. */
  isReady(timeMs: number): boolean;
  /** Why it ended, if it did. */
  readonly fault: string | null;
  /** Why nothing comes for now: it is asked for again and again. */
  readonly retrying: string | null;
  close(): void;
};

/** Where a camera's recordings are, as far as it is known; null: nowhere. */
export type RecordedTimes = {
  /** The first recorded moment from one on. */
  after(timeMs: number): number | null;
  /** The last one up to it. */
  before(timeMs: number): number | null;
};

export const messageOf = (fault: unknown): string => (fault instanceof Error ? fault.message : String(fault));
