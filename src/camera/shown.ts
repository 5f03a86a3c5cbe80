import type { Clock } from '../base/clock.js';
import { readCounters } from '../ring/counters.js';
import type { QuirkName, Camera as StoredCamera } from '../store/cameras.js';
import { type CameraStatus, isAtRest } from './fleet/camera.js';
import type { Cameras } from './fleet/cameras.js';
import { type CameraOwners, whyUnseen } from './owners.js';
import type { Entry } from './registry-entry.js';
import type { CameraActivity, CameraCondition, CameraFigures } from './registry-faces.js';
import { pictureFields, type RuntimeFields, subFields } from './runtime-fields.js';
import type { StreamGauge } from './stream-gauge.js';
import { fieldsTold } from './told-fields.js';

/** Who knows what a camera does now. */
export type ShownDeps = {
  readonly clock: Clock;
  readonly cameras: Cameras;
  readonly activity: CameraActivity;
  readonly owners: CameraOwners;
};

export const oversizedOf = ({ counters }: StreamGauge): number => counters?.oversizedFrames ?? 0;

export const conditionOf = (
  { id, record }: StoredCamera,
  { cameras, activity, owners }: ShownDeps,
): CameraCondition => {
  const status = cameras.get(id)?.status();
  const isHere = owners.has(id);
  return {
    cameraId: id,
    isStreaming: status?.state === 'streaming',
    isAtRest: status === undefined || isAtRest(status.state) || !isHere,
    isRecorded: record && isHere,
    isRecording: activity.isRecording(id),
    fault: status?.lastError ?? '',
  };
};

export const figuresOf = (
  { stored: { id }, sources, subKey, gauge, receivedBytes }: Entry,
  { cameras, activity }: ShownDeps,
): CameraFigures => {
  const ring = cameras.ring(id);
  const status = cameras.get(id)?.status();
  const state = status?.state ?? 'disabled';
  return {
    cameraId: id,
    state,
    isStreaming: state === 'streaming',
    counters: ring === null ? null : readCounters(ring),
    receivedBytes,
    ringBytes: (ring?.byteLength ?? 0) + (cameras.ring(subKey)?.byteLength ?? 0),
    fps: gauge.fps,
    bitrateKbps: gauge.bitrateKbps,
    viewers: activity.viewers(sources),
    isRecording: activity.isRecording(id),
    unrecordedFrames: activity.unrecordedFrames(id),
    reconnects: status?.reconnects ?? 0,
    bufferDrops: activity.droppedFrames(sources),
  };
};

/** Nearly no camera has any. */
const quirksOf = (
  { quirks }: Entry,
  main: CameraStatus | undefined,
  sub: CameraStatus | undefined,
): readonly QuirkName[] =>
  (main?.quirks.length ?? 0) + (sub?.quirks.length ?? 0) === 0
    ? quirks
    : [...new Set([...quirks, ...(main?.quirks ?? []), ...(sub?.quirks ?? [])])].sort();

/** `usedBytes`: of its month's traffic. */
export const runtimeOf = (entry: Entry, usedBytes: number, deps: ShownDeps): RuntimeFields => {
  const { activity, cameras, clock, owners } = deps;
  const { gauge, subGauge, sources } = entry;
  const { id, record } = entry.stored;
  const owner = owners.boxOf(id) ?? '';
  const status = cameras.get(id)?.status();
  if (!owners.has(id)) {
    const told = fieldsTold(owners.figuresOf(id), owner);
    // What is wrong with its pictures at this box, where nothing is at the one that has it.
    const fault = owner === '' ? '' : (whyUnseen(owners, id) ?? status?.lastError ?? '');
    return told.last_error === '' ? { ...told, last_error: fault } : told;
  }
  const state = status?.state ?? 'disabled';
  const subStatus = cameras.get(entry.subKey)?.status();
  const since = status?.streamingSinceMs ?? null;
  const viewers = activity.viewers(sources);
  return {
    state,
    ...pictureFields(gauge),
    uptime_sec: since === null ? 0 : Math.floor((clock.monotonicMs() - since) / 1000),
    traffic_used_mb: Math.round(usedBytes / 1000) / 1000,
    last_error: status?.lastError ?? '',
    audio_codec: gauge.info?.audio?.codec ?? '',
    viewers: viewers.websocket + viewers.wall + viewers.hls + viewers.whep + viewers.rtsp,
    recording: activity.isRecording(id),
    record_error: record && !isAtRest(state) ? activity.recordError(id) : '',
    dropped_frames: oversizedOf(gauge) + oversizedOf(subGauge) + activity.droppedFrames(sources),
    quirks_active: quirksOf(entry, status, subStatus),
    detect_error: activity.detectError(id),
    ptz: activity.hasPtz(id),
    sub: subStatus === undefined ? null : subFields(subStatus, subGauge),
    owner,
  };
};
