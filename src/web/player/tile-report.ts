/** What a tile shows, and how that goes. */
export type TileReport = {
  readonly tile: number;
  readonly stream: number;
  /** Pictures on the screen since the tile was made. */
  readonly drawn: number;
  /** When the last one came there, by the clock that nobody sets; 0: none yet. */
  readonly drawnMs: number;
  /** The service's wall clock of it, when the service saw it. */
  readonly wallMs: number;
  readonly intervalMs: number;
  readonly isKeysOnly: boolean;
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly fps: number;
  readonly kbits: number;
  readonly lagP50Ms: number;
  readonly lagP95Ms: number;
  readonly queued: number;
  /** So much later than it might a picture is shown, so that they come evenly; null: each at once. */
  readonly pacedMs: number | null;
  /** Frames that never came, and those that this page left out to be live. */
  readonly lost: number;
  readonly skipped: number;
  readonly keyDistanceMs: number;
  readonly rebuilds: number;
  readonly isSoftware: boolean;
};
