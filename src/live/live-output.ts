/** The ways in which a camera's live picture reaches viewers. */
export type LiveKind = 'websocket' | 'hls' | 'whep';

/** One of these ways, as whoever counts and ends viewers sees it. */
export type LiveOutput = {
  readonly kind: LiveKind;
  /** How many watch a camera. */
  viewers(cameraId: string): number;
  /** Frames that slow viewers of the camera have missed. */
  droppedFrames(cameraId: string): number;
  /** The camera is deleted: whoever watches is told, and nothing is remembered of it. */
  closeCamera(cameraId: string): void;
  /** Ends all. */
  stop(): void | Promise<void>;
};
