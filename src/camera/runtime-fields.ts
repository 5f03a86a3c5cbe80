import type { QuirkName, Camera as StoredCamera } from '../store/cameras.js';
import type { CameraState } from './fleet/camera.js';

/** What is known of a camera while the service runs; never stored. Spelled as in the JSON interface. */
export type RuntimeFields = {
  readonly state: CameraState;
  readonly fps: number;
  /** kbit/s. */
  readonly bitrate: number;
  /** "" until the first stream. */
  readonly codec: string;
  /** `<width>x<height>`, "" while unknown. */
  readonly resolution: string;
  readonly width: number;
  readonly height: number;
  readonly uptime_sec: number;
  readonly traffic_used_mb: number;
  /** "" when fine. */
  readonly last_error: string;
  /** "" if there is none. */
  readonly audio_codec: string;
  readonly viewers: number;
  readonly recording: boolean;
  readonly dropped_frames: number;
  /** Of `quirks`: those that ask for something else than the default, and those that the camera turned out to need. */
  readonly quirks_active: readonly QuirkName[];
};

/** A camera as the interface shows it. */
export type CameraView = StoredCamera & RuntimeFields;

/** Names of the runtime fields, which a writer may send back and which are then ignored. */
export const runtimeFieldNames = [
  'state',
  'fps',
  'bitrate',
  'codec',
  'resolution',
  'width',
  'height',
  'uptime_sec',
  'traffic_used_mb',
  'last_error',
  'audio_codec',
  'viewers',
  'recording',
  'dropped_frames',
  'quirks_active',
] as const satisfies readonly (keyof RuntimeFields)[];

/** Those that change when something happens; the others are figures, which change all the time. */
export const eventFieldNames = [
  'state',
  'last_error',
  'codec',
  'resolution',
  'width',
  'height',
  'audio_codec',
  'viewers',
  'recording',
  'quirks_active',
] as const satisfies readonly (keyof RuntimeFields)[];
