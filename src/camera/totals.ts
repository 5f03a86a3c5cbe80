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
