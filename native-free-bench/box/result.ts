import type { LatencySummary } from '../latencies.js';
import type { RunFacts } from '../run-facts.js';
import type { ViewerKind } from '../viewers/messages.js';
import type { MachineFigures } from './machine-meter.js';
import type { Spread } from './metrics-text.js';

/** What one kind of viewers saw in a window. */
export type KindFigures = {
  readonly kind: ViewerKind;
  /** Of a wall: its tiles. */
  readonly viewers: number;
  readonly frames: number;
  readonly lostFrames: number;
  readonly lostPackets: number;
  readonly mbitPerSec: number;
  /** Last packet sent by the camera → whole frame at the viewer; by HLS: the last frame of each part. */
  readonly latency: LatencySummary;
  /** By HLS: the playlist that lists a part, behind the part's last frame. */
  readonly reload: LatencySummary | null;
  readonly firstPicture: LatencySummary;
  /** Of the process that all of them run in. */
  readonly cpuMsPerSec: number;
};

/** What went missing in the service; each counts from the window's start. */
export type Losses = {
  readonly packetsLost: number;
  readonly damagedFrames: number;
  readonly discontinuities: number;
  readonly reconnects: number;
  readonly unrecordedFrames: number;
  /** GOPs that outgrew what their ring may take: a sign that memory is short. */
  readonly cutGops: number;
  /** P-frames that were left out for slow viewers. */
  readonly drops: number;
};

/** A stretch of time with the same load. */
export type Window = {
  readonly name: string;
  /** Viewers that came with it, beside those of the windows before. */
  readonly added: { readonly kind: ViewerKind; readonly viewers: number } | null;
  readonly seconds: number;
  /** Null where nobody tells. */
  readonly cpuMsPerSec: number | null;
  /** By the names of the service's threads; what its pool and the rest take is not in here. */
  readonly threadCpuMsPerSec: Readonly<Record<string, number>>;
  readonly rssMb: number | null;
  readonly pssMb: number | null;
  readonly mainLag: Spread | null;
  readonly workerLag: Spread | null;
  /** Of recordings: from when frames were to be written until the file system had taken them. */
  readonly archiveWrites: Spread | null;
  readonly machine: MachineFigures | null;
  readonly losses: Losses | null;
  readonly cameras: {
    /** That came due and were sent, or left out. */
    readonly frames: number;
    /** As many as they should have sent: where these are more, the machine had no time for the cameras themselves. */
    readonly framesDue: number;
    readonly lateFrames: number;
    /** Left out since nobody took them. */
    readonly skippedFrames: number;
    readonly cpuMsPerSec: number;
  };
  readonly viewers: readonly KindFigures[];
  readonly api: (LatencySummary & { readonly failed: number }) | null;
};

/** One run of the bench, as its JSON has it. */
export type BoxResult = RunFacts & {
  readonly bench: 'box';
  /** From when the cameras were added until the last one streamed; null: another product was measured. */
  readonly allStreamingMs: number | null;
  readonly windows: readonly Window[];
  readonly cpuMsPerSecPerCamera: number | null;
  readonly viewerCpuMsPerSec: Readonly<Partial<Record<ViewerKind, number>>>;
  /** What went wrong with viewers. */
  readonly faults: readonly string[];
  /** Frames that somebody missed, by who: from when all cameras streamed, also between the windows; viewers, in them. */
  readonly lost: Readonly<Record<string, number>>;
};
