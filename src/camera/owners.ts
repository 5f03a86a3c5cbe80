import { Signal } from '../base/signal.js';
import type { OtherBox } from '../relay/receive/pull.js';

/** Which of the cameras this box connects; who has the others, and what those tell of them. */
export type CameraOwners = {
  /** Whether it is this box's now. */
  has(cameraId: string): boolean;
  /** The box that has it; null: none, as far as is known. */
  boxOf(cameraId: string): string | null;
  /** Where that is asked for its pictures; null: it is this box's, or nobody can be asked. */
  relayOf(cameraId: string): OtherBox | null;
  /** What the box that has it tells of it (told-fields.ts); null: nothing yet. */
  figuresOf(cameraId: string): unknown;
  /** It ended threads at a box that had it lately. */
  endsThreads(cameraId: string): boolean;
  /** These are this box's from now on, or no more, or another one's than before. */
  readonly changed: Signal<[cameraIds: readonly string[]]>;
  /** Cameras came or went, or one is pinned to another box. */
  lookSoon(): void;
};

/** Why its live pictures can't be had at this box; null: they can, as far as is known. */
export const whyUnseen = (owners: CameraOwners, cameraId: string): string | null => {
  if (owners.has(cameraId) || owners.relayOf(cameraId) !== null) return null;
  const box = owners.boxOf(cameraId);
  return box === null
    ? 'no box has the camera yet'
    : `box ${box} has the camera, and tells no BOX_ADDRESS: its pictures can't be had at other boxes`;
};

/** A box alone has all of them. */
export const allCameras = (boxName: string): CameraOwners => ({
  has: () => true,
  boxOf: () => boxName,
  relayOf: () => null,
  figuresOf: () => null,
  endsThreads: () => false,
  changed: new Signal(),
  lookSoon: () => {},
});
