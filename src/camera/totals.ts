/** How many watch, by the way the picture takes. */
export type ViewerCounts = {
  readonly websocket: number;
  /** Tiles of walls. */
  readonly wall: number;
  readonly hls: number;
  readonly whep: number;
  readonly rtsp: number;
};

/** All cameras together. */
export type Totals = {
  cameras: number;
  streaming: number;
  recording: number;
  fps: number;
  /** Bytes and frames since the start; they fall when a camera goes. */
  receivedBytes: number;
  droppedFrames: number;
  unrecordedFrames: number;
  readonly viewers: { -readonly [kind in keyof ViewerCounts]: number };
};

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
