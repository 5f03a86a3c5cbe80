import type { Notice, SceneObject } from '../analytics/metadata.js';
import type { MonotonicMs } from '../base/clock.js';
import type { LogFields, LogLevel } from '../base/log.js';
import type { OtherBox } from '../relay/receive/pull.js';
import type { SeenThere } from '../relay/wire/texts.js';
import type { CameraQuirks, QuirkName } from '../store/cameras.js';

/** How a camera is reached. The URL holds the credentials: it goes to the worker and nowhere else. */
export type CameraSource = {
  readonly url: string;
  readonly transport: 'tcp' | 'udp';
  readonly quirks?: CameraQuirks;
  /** What the camera's own analytics tell is wanted, where it does. */
  readonly wantsMetadata?: boolean;
  /** The box that connects the camera, and is asked for its frames. */
  readonly from?: OtherBox;
};

/** Why a session ended or never began; `code` decides how soon it is tried again. */
export type SessionFault = {
  readonly code: string;
  readonly message: string;
};

/** What a session whose camera sends is still waiting for, and since when: "a keyframe". */
export type Waiting = { readonly waitsFor: string; readonly sinceMs: MonotonicMs };

/** What has become of a camera's recording. */
export type RecordingNews = {
  /** Of the file that is being written, or null. */
  readonly fileName: string | null;
  /** Why the disk refused, while recording is paused for that. */
  readonly fault: string | null;
};

/** A file was made; it has its closed name, or is gone; it could not be closed and nobody writes it any more. */
export type RecordingFileState = 'made' | 'closed' | 'left';

/** What a camera's own analytics saw in the picture of a time, in the time of its frames. */
export type TimedScene = { readonly wallMs: number; readonly objects: readonly SceneObject[] };

export type TimedNotice = Omit<Notice, 'utcMs'> & { readonly wallMs: number };

/** What is new of them. */
export type AnalyticsNews = {
  readonly scenes: readonly TimedScene[];
  readonly notices: readonly TimedNotice[];
};

/** What the main thread tells a camera worker. Each camera's messages arrive in the order they were sent. */
export type ToCameraWorker =
  /** Makes the camera's ring, or takes over the one that another worker left. */
  | { readonly type: 'open'; readonly cameraId: string; readonly ring: SharedArrayBuffer | null }
  /** Whether the camera is to be recorded, from now on, and whether all of that or what lies around events. */
  | {
      readonly type: 'record';
      readonly cameraId: string;
      readonly isWanted: boolean;
      readonly mode: 'continuous' | 'events';
    }
  /** Whether somebody wants the camera's metadata documents as they come, from now on. */
  | { readonly type: 'documents'; readonly cameraId: string; readonly isWanted: boolean }
  /** Begins one session; `attempt` comes back with all that is said of it. */
  | {
      readonly type: 'connect';
      readonly cameraId: string;
      readonly attempt: number;
      readonly source: CameraSource;
    }
  /** Ends the session, if any; the ring stays. */
  | { readonly type: 'disconnect'; readonly cameraId: string }
  /** Ends the session and lets go of the ring: closed for good, or left for another worker. */
  | { readonly type: 'release'; readonly cameraId: string; readonly closeRing: boolean }
  /** Ends all sessions, then the thread. */
  | { readonly type: 'stop' };

/** What a camera worker tells the main thread. */
export type FromCameraWorker =
  /** Once, first of all: where the thread publishes its figures (base/thread-stats.ts). */
  | { readonly type: 'thread'; readonly stats: SharedArrayBuffer }
  /** Once, first: the doorbell of all rings of this worker. */
  | { readonly type: 'ready'; readonly bell: SharedArrayBuffer }
  /** The camera's ring, new or replaced by a larger one. */
  | { readonly type: 'ring'; readonly cameraId: string; readonly ring: SharedArrayBuffer }
  /** PLAY was answered. */
  | { readonly type: 'playing'; readonly cameraId: string; readonly attempt: number }
  /** The camera sends, and nothing of it can be shown yet. */
  | {
      readonly type: 'waiting';
      readonly cameraId: string;
      readonly attempt: number;
      readonly waiting: Waiting;
    }
  /** The first whole frame is in the ring. */
  | { readonly type: 'streaming'; readonly cameraId: string; readonly attempt: number }
  /** Quirks that count in the session: all of them, again whenever there are more. */
  | {
      readonly type: 'quirks';
      readonly cameraId: string;
      readonly attempt: number;
      readonly names: readonly QuirkName[];
    }
  /** The box that is asked for its frames has answered: the boxes that they come by, that one last. */
  | {
      readonly type: 'path';
      readonly cameraId: string;
      readonly attempt: number;
      readonly path: readonly string[];
    }
  /** Whether its metadata track is there: when PLAY was answered, of those that have one. */
  | {
      readonly type: 'metadata';
      readonly cameraId: string;
      readonly attempt: number;
      readonly isThere: boolean;
    }
  /** The session that plays does without the metadata track, with which those before it ended too soon. */
  | { readonly type: 'metadata_held_off'; readonly cameraId: string; readonly attempt: number }
  /** The camera's own analytics: a few times a second at most. */
  | { readonly type: 'analytics'; readonly cameraId: string; readonly news: AnalyticsNews }
  /** What the box that is asked for its frames says is seen in one. */
  | { readonly type: 'seen'; readonly cameraId: string; readonly seen: SeenThere }
  /** A metadata document, while they are wanted. */
  | {
      readonly type: 'document';
      readonly cameraId: string;
      readonly bytes: Uint8Array;
      readonly wallMs: number;
    }
  /** The session is over, for whatever reason, and writes no more. */
  | {
      readonly type: 'ended';
      readonly cameraId: string;
      readonly attempt: number;
      readonly fault: SessionFault;
    }
  /** The camera was released: the last word to it has been said, and no socket with it is left. */
  | { readonly type: 'released'; readonly cameraId: string }
  | { readonly type: 'recording'; readonly cameraId: string; readonly news: RecordingNews }
  /** Video frames that came and could not be recorded: more of them. */
  | { readonly type: 'unrecorded'; readonly cameraId: string; readonly frames: number }
  | {
      readonly type: 'recording_file';
      readonly cameraId: string;
      readonly fileName: string;
      readonly state: RecordingFileState;
      /** Where the recorder says how far a file is that was made. */
      readonly progress: SharedArrayBuffer | null;
    }
  | { readonly type: 'log'; readonly level: LogLevel; readonly message: string; readonly fields: LogFields };
