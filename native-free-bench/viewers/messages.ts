import type { LatencyCounts } from '../latencies.js';

export type ViewerKind = 'ws' | 'wall' | 'hls' | 'whep' | 'rtsp';

/** What one viewer opens: an address, and for a wall the cameras of its tiles. */
export type ViewerTarget = { readonly url: string; readonly cameraIds?: readonly string[] };

export type ViewersQuestion =
  /** Resolves when all of them have a picture. */
  | { readonly type: 'join'; readonly kind: ViewerKind; readonly targets: readonly ViewerTarget[] }
  | { readonly type: 'measure' }
  /** What came since `measure`, which goes on. */
  | { readonly type: 'report' }
  /** The ones that came first go. */
  | { readonly type: 'leave'; readonly count: number };

export type ViewersReport = {
  /** Of a wall: its tiles. */
  readonly viewers: number;
  readonly frames: number;
  readonly lostFrames: number;
  readonly lostPackets: number;
  readonly bytes: number;
  readonly latencies: LatencyCounts;
  readonly reloads: LatencyCounts;
  /** Since the process began. */
  readonly firstPictures: LatencyCounts;
  readonly cpuMs: number;
  readonly faults: readonly string[];
};
