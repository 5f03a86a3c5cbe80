import type { QuirkName, Camera as StoredCamera } from '../store/cameras.js';
import type { CameraState, CameraStatus } from './fleet/camera.js';
import type { StreamGauge } from './stream-gauge.js';

/** What one of a camera's streams looks like. */
type PictureFields = {
  readonly fps: number;
  /** kbit/s. */
  readonly bitrate: number;
  /** "" until the first stream. */
  readonly codec: string;
  /** `<width>x<height>`, "" while unknown. */
  readonly resolution: string;
  readonly width: number;
  readonly height: number;
};

/** A camera's sub-stream. */
export type SubFields = PictureFields & { readonly state: CameraState; readonly last_error: string };

/**
 * What is known of a camera while the service runs; never stored. Spelled as in the JSON interface. What isn't
 * in `sub` is said of the main stream, but viewers, drops and traffic are counted of both.
 */
export type RuntimeFields = PictureFields & {
  readonly state: CameraState;
  readonly uptime_sec: number;
  readonly traffic_used_mb: number;
  /** "" when fine. */
  readonly last_error: string;
  /** "" if there is none. */
  readonly audio_codec: string;
  readonly viewers: number;
  readonly recording: boolean;
  /** Why the disk doesn't take what is to be recorded, or didn't within the last minute; "" where all is well. */
  readonly record_error: string;
  readonly dropped_frames: number;
  /** Of `quirks`: those that ask for something else than the default, and those that the camera turned out to need. */
  readonly quirks_active: readonly QuirkName[];
  /** Why no objects are found though `detect` is on; "" where all is well. */
  readonly detect_error: string;
  /** Whether it can be moved. */
  readonly ptz: boolean;
  /** null: there is no `sub_url`. */
  readonly sub: SubFields | null;
  /** The box that has it, "" where none has; alone, that is this one. */
  readonly owner: string;
};

export const pictureFields = ({ fps, bitrateKbps, info }: StreamGauge): PictureFields => {
  const { codec, width, height } = info?.video ?? { codec: '', width: 0, height: 0 };
  const resolution = width > 0 ? `${width}x${height}` : '';
  return { fps, bitrate: bitrateKbps, codec, resolution, width, height };
};

export const subFields = ({ state, lastError }: CameraStatus, gauge: StreamGauge): SubFields => ({
  state,
  last_error: lastError,
  ...pictureFields(gauge),
});

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
  'record_error',
  'dropped_frames',
  'quirks_active',
  'detect_error',
  'ptz',
  'sub',
  'owner',
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
  'record_error',
  'quirks_active',
  'detect_error',
  'ptz',
  'owner',
] as const satisfies readonly (keyof RuntimeFields)[];
