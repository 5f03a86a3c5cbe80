import { Signal } from '../base/signal.js';

/** Which of the cameras this box connects; who has the others, and what those tell of them. */
export type CameraOwners = {
  /** Whether it is this box's now. */
  has(cameraId: string): boolean;
  /** The box that has it; null: none, as far as is known. */
  boxOf(cameraId: string): string | null;
  /** What the box that has it tells of it (told-fields.ts); null: nothing yet. */
  figuresOf(cameraId: string): unknown;
  /** These are this box's from now on, or no more. */
  readonly changed: Signal<[cameraIds: readonly string[]]>;
  /** Cameras came or went, or one is pinned to another box. */
  lookSoon(): void;
};

/** A box alone has all of them. */
export const allCameras = (boxName: string): CameraOwners => ({
  has: () => true,
  boxOf: () => boxName,
  figuresOf: () => null,
  changed: new Signal(),
  lookSoon: () => {},
});
