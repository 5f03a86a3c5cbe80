/** The ways in which a camera's live picture reaches viewers. */
export type LiveKind = 'websocket' | 'wall' | 'hls' | 'whep' | 'rtsp';

/** One of these ways, as whoever counts and ends viewers sees it. */
export type LiveOutput = {
  readonly kind: LiveKind;
  /** How many watch a source of a camera (`ring/source-key.ts`). */
  viewers(source: string): number;
  /** Frames that slow viewers of the source have missed. */
  droppedFrames(source: string): number;
  /** The camera of the source is deleted: whoever watches is told, and nothing is remembered of it. */
  closeCamera(source: string): void;
  /** Ends all. */
  stop(): void | Promise<void>;
};
