/** Where a camera's frames are: its ring, and the bell of the thread that fills it. */
export type CameraFeed = { readonly ring: SharedArrayBuffer; readonly bell: SharedArrayBuffer };

/** What live outputs ask of whoever owns the cameras. Sources of frames are named by their keys (`ring/source-key.ts`). */
export type CameraFeeds = {
  /**
   * Calls `listener` with the present feed, if there is one, before it returns; again whenever the ring was
   * replaced or another thread fills it, and with null when the camera is gone. Returns what ends that. A source that
   * is on demand is connected as long as somebody follows it, and a while longer.
   */
  follow(source: string, listener: (feed: CameraFeed | null) => void): () => void;
  /** Whether the source is connected because it is followed: then the first picture is to be waited for. */
  isOnDemand(source: string): boolean;
};
