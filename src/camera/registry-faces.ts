import type { RingCounters } from '../ring/counters.js';
import type { CameraState } from './fleet/camera.js';
import type { ViewerCounts } from './totals.js';

/** What a camera is meant to do, and does. */
export type CameraCondition = {
  readonly cameraId: string;
  readonly isStreaming: boolean;
  /** It is not to be connected. */
  readonly isAtRest: boolean;
  readonly isRecorded: boolean;
  readonly isRecording: boolean;
  /** Why it isn't streaming; "" where nothing is known. */
  readonly fault: string;
};

/** One camera in figures, for metrics and statistics. */
export type CameraFigures = {
  readonly cameraId: string;
  readonly state: CameraState;
  readonly isStreaming: boolean;
  /** Of the main stream; null while it has no ring. */
  readonly counters: RingCounters | null;
  /** What has come from the camera since the service started, by both streams. */
  readonly receivedBytes: number;
  /** Of both streams. */
  readonly ringBytes: number;
  readonly fps: number;
  readonly bitrateKbps: number;
  readonly viewers: ViewerCounts;
  readonly isRecording: boolean;
  readonly unrecordedFrames: number;
  readonly reconnects: number;
  readonly bufferDrops: number;
};

/** What the readers of a camera's rings tell of themselves; `sources`: the keys of both streams, which are added up. */
export type CameraActivity = {
  viewers(sources: readonly string[]): ViewerCounts;
  isRecording(cameraId: string): boolean;
  /** When its recording was last seen to go on, on the disk; null: nothing of it is there. To be asked some times a second. */
  writtenMs(cameraId: string): number | null;
  recordError(cameraId: string): string;
  /** Frames that came while the camera was recorded, and could not be. */
  unrecordedFrames(cameraId: string): number;
  /** For viewers that were too slow. */
  droppedFrames(sources: readonly string[]): number;
  /** Why no objects are found, though they are looked for; "" where all is well. */
  detectError(cameraId: string): string;
  /** Whether it can be moved. */
  hasPtz(cameraId: string): boolean;
};

/** Told when what viewers were allowed is over. */
export type CameraEvents = {
  onRemoved(cameraId: string): void;
  /** `token_auth` was switched on. */
  onLocked(cameraId: string): void;
  /** The camera was disabled. */
  onDisabled(cameraId: string): void;
  /** It is in another folder. */
  onMoved(): void;
};
