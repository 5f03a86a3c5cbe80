import type { Threads } from './threads.js';

/** The counts of a camera's ring and session that become metrics; named as the ring's header names them. */
export type StreamCounters = {
  readonly videoFrames: number;
  readonly audioFrames: number;
  readonly keyFrames: number;
  readonly videoBytes: number;
  readonly audioBytes: number;
  readonly audioFramesDropped: number;
  readonly discontinuities: number;
  readonly replacements: number;
  /** GOPs whose keyframe was overwritten before they ended. */
  readonly cutGops: number;
  /** Monotonic milliseconds, 0 before the first. */
  readonly lastVideoArrivalMs: number;
  readonly packets: number;
  readonly packetsLost: number;
  readonly packetsLate: number;
  readonly packetsDuplicate: number;
  readonly packetsForeign: number;
  readonly malformedPackets: number;
  readonly damagedFrames: number;
  readonly oversizedFrames: number;
  readonly rtpJumps: number;
  readonly wallSteps: number;
  readonly undecodableFrames: number;
  readonly garbageBytes: number;
  readonly unsentPackets: number;
  readonly metadataDocuments: number;
  readonly metadataRefused: number;
  readonly metadataObjects: number;
};

/** How a picture reaches a viewer. */
export const viewerKinds = ['websocket', 'wall', 'hls', 'whep', 'rtsp'] as const;
export type ViewerKind = (typeof viewerKinds)[number];

/** One camera as of now; asked for at a scrape only. Viewers and drops are those of both streams. */
export type CameraFigures = {
  readonly cameraId: string;
  /** As the camera list shows it. */
  readonly state: string;
  /** Of the main stream; null while it has no ring. */
  readonly counters: StreamCounters | null;
  /** By both streams. */
  readonly receivedBytes: number;
  /** Of both streams. */
  readonly ringBytes: number;
  readonly fps: number;
  readonly bitrateKbps: number;
  readonly viewers: Readonly<Record<ViewerKind, number>>;
  readonly isRecording: boolean;
  /** Frames that came while the camera was recorded, and could not be. */
  readonly unrecordedFrames: number;
  readonly reconnects: number;
  /** P-frames that slow viewers missed, each viewer's own counted. */
  readonly bufferDrops: number;
};

/** The threads that the cameras live in, and the rings of all of them. */
export type FleetFigures = {
  /** Threads that ended without being asked to, or had to be ended. */
  readonly threadsLost: Readonly<Record<'died' | 'hung', number>>;
  readonly rings: {
    readonly budgetBytes: number;
    readonly usedBytes: number;
    readonly ceilingBytes: number;
  };
};

/** Room of the file system that holds the archive. */
export type Storage = { readonly freeBytes: number; readonly totalBytes: number };

/** Pictures that were made of keyframes for snapshots. */
export type PictureFigures = {
  readonly decoded: number;
  /** Those of which none could be made, by why. */
  readonly failed: Readonly<Record<string, number>>;
  /** Those that wait for their turn. */
  readonly waiting: number;
};

/** Recordings of cameras that are recorded by events, once it was decided what of them is kept. */
export type EventRecordingFigures = {
  /** To what belongs to events. */
  readonly cut: number;
  /** Of no event, as a whole. */
  readonly deleted: number;
  /** Kept whole, since they don't tell their parts. */
  readonly unreadable: number;
};

/** Values that were counted by buckets: upper bounds, and one more bucket for the rest. */
export type Spread = {
  readonly bounds: readonly number[];
  readonly counts: readonly number[];
  readonly sum: number;
};

/** Objects that are looked for in keyframes. */
export type DetectionFigures = {
  /** Cameras that wait for their turn. */
  readonly waiting: number;
  readonly dropped: number;
  readonly looked: number;
  readonly failed: number;
  readonly decodeSec: number;
  readonly inferSec: number;
  readonly decoderRestarts: number;
  readonly byLabel: ReadonlyMap<string, number>;
  /** How old keyframes were, in seconds: when their turn came, and when it was known what is in them. */
  readonly ages: { readonly taken: Spread; readonly known: Spread };
  /** Pictures whose objects are kept with the recordings; and those that the disk was too slow for, or refused. */
  readonly kept: number;
  readonly lost: number;
};

/** Messages to others. */
export type NoticeFigures = {
  readonly webhooks: {
    readonly waiting: number;
    readonly sending: number;
    readonly sent: number;
    readonly failed: number;
    readonly dropped: number;
  };
  /** Null: there is no broker to tell. */
  readonly mqtt: {
    readonly isUp: boolean;
    readonly waiting: number;
    readonly sent: number;
    readonly dropped: number;
    readonly connects: number;
  } | null;
};

/** Copies of recordings in a store. */
export type StoreFigures = {
  /** The store did what it was asked last. */
  readonly isUp: boolean;
  readonly waiting: number;
  /** How long ago the oldest of those began. */
  readonly oldestSec: number;
  readonly copied: number;
  readonly deleted: number;
  readonly failed: number;
  readonly sentBytes: number;
};

/** Boxes of a cluster, and whose the cameras are. */
export type ClusterFigures = {
  /** By name: whether it is here. */
  readonly boxes: ReadonlyMap<string, boolean>;
  /** How far the clocks of those that are here are ahead of this one's. */
  readonly clocksAheadMs: ReadonlyMap<string, number>;
  readonly hasMajority: boolean;
  /** Cameras of this box. */
  readonly own: number;
  readonly unowned: number;
  readonly doubled: number;
  /** Live pictures that other boxes pull of this one. */
  readonly relay: {
    readonly pulls: number;
    readonly bytes: number;
    readonly droppedFrames: number;
    readonly lagMs: number;
  };
};

/** What the metrics need of the rest of the service. Called at a scrape, never between two. */
export interface MetricsSource {
  readonly threads: Threads;
  cameras(): Iterable<CameraFigures>;
  fleet(): FleetFigures;
  /** Each component that readiness checks, and whether it is well. Bounded in time by the source. */
  components(): Promise<Readonly<Record<string, boolean>>>;
  /** Null: not known, since the file system doesn't answer. Bounded in time by the source. */
  storage(): Promise<Storage | null>;
  /** Recordings that were moved aside, as of the last look at the archive. */
  brokenRecordings(): { readonly files: number; readonly bytes: number };
  /** How long writes of recordings took, in seconds. */
  archiveWrites(): Spread;
  eventRecording(): EventRecordingFigures;
  pictures(): PictureFigures;
  detection(): DetectionFigures;
  notices(): NoticeFigures;
  /** Null: there is no store, or nothing is known of it yet. */
  store(): StoreFigures | null;
  /** Null: this box is alone. */
  cluster(): ClusterFigures | null;
  /** Cameras that are heard by ONVIF's pull point, and those that are to be and aren't. */
  onvifEvents(): { readonly heard: number; readonly missed: number };
  /** Who reads what happens, and how often each topic was told of while somebody did. */
  events(): { readonly readers: number; readonly told: Readonly<Record<string, number>> };
}
