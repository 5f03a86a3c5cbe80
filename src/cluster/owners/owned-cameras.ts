import type { Ailment } from './held.js';

/** The cameras of this box's configuration, and what becomes of those that it has. */
export type OwnedCameras = {
  list(): Iterable<{ readonly id: string; readonly box: string | null }>;
  /**
   * Until when its pictures count as being on the disk or, where none are to be, there, if no more come; or it is not to be
   * connected. Null: that isn't so now.
   */
  worksUntilMs(cameraId: string): number | null;
  /** Whether it has said there that it sends. */
  hasAnswered(cameraId: string): boolean;
  isUnauthorized(cameraId: string): Ailment['isUnauthorized'];
  suspicionOf(cameraId: string): Ailment['suspicion'];
  /** What is shown of it. */
  figures(cameraId: string): readonly unknown[];
};
