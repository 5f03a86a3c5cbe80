import type { ViewerPlace } from '../viewer-place.js';

/** Whoever opened a wall, and what that person may see. */
export type WallGuest = {
  readonly username: string;
  readonly events: WallEvents;
  /** Takes a place on a camera; throws what a socket of that camera alone would be refused with. */
  watch(cameraId: string): ViewerPlace;
  /** Says who is told when all of it must end. */
  onEnd(listener: () => void): void;
  /** The page has gone. */
  release(): void;
};

/** What happens in the service, of which a guest hears what that person may. */
export type WallEvents = {
  /** Of the last event there was. */
  readonly position: number;
  /** Calls back when there may be events behind the position that was reached. Returns what ends that. */
  listen(listener: () => void): () => void;
  /** Each as JSON of an object, of those that came after a position; null: some of them are forgotten. */
  since(position: number): { readonly position: number; readonly texts: readonly string[] } | null;
};

/** What a page is told of an error (RFC 9457). */
export type ProblemOf = (thrown: unknown) => object;
