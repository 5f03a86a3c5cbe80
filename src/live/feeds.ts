/** Where a camera's frames are: its ring, and the bell of the thread that fills it. */
export type CameraFeed = { readonly ring: SharedArrayBuffer; readonly bell: SharedArrayBuffer };

/** What live outputs ask of whoever owns the cameras. */
export type CameraFeeds = {
  /**
   * Calls `listener` with the present feed, if there is one, before it returns; again whenever the ring was
   * replaced or another thread fills it, and with null when the camera is gone. Returns what ends that.
   */
  follow(cameraId: string, listener: (feed: CameraFeed | null) => void): () => void;
};
