import type { ViewerPlace } from '../viewer-place.js';

/** Whoever opened a wall, and what that person may see. */
export type WallGuest = {
  readonly username: string;
  /** Takes a place on a camera; throws what a socket of that camera alone would be refused with. */
  watch(cameraId: string): ViewerPlace;
  /** Says who is told when all of it must end. */
  onEnd(listener: () => void): void;
  /** The page has gone. */
  release(): void;
};

/** What a page is told of an error (RFC 9457). */
export type ProblemOf = (thrown: unknown) => object;
