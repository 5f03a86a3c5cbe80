import type { CameraFigures, StreamCounters, ViewerKind } from './metrics-source.js';
import { viewerKinds } from './metrics-source.js';

/** Reads one figure; null: this camera has none now. */
type Read = (camera: CameraFigures, nowMs: number) => number | null;

/** A metric with label `camera_id`, and perhaps one label more, which tells its series apart. */
export type StreamMetric = {
  readonly kind: 'counter' | 'gauge';
  readonly name: string;
  readonly help: string;
  readonly label: string | null;
  readonly series: readonly { readonly labelValue: string; readonly read: Read }[];
};

const plain = (kind: StreamMetric['kind'], name: string, help: string, read: Read): StreamMetric => ({
  kind,
  name,
  help,
  label: null,
  series: [{ labelValue: '', read }],
});

const counter = (name: string, help: string, count: keyof StreamCounters): StreamMetric =>
  plain('counter', name, help, (camera) => camera.counters?.[count] ?? null);

const byMedia = (
  name: string,
  help: string,
  video: keyof StreamCounters,
  audio: keyof StreamCounters,
): StreamMetric => ({
  kind: 'counter',
  name,
  help,
  label: 'media',
  series: [
    { labelValue: 'video', read: (camera) => camera.counters?.[video] ?? null },
    { labelValue: 'audio', read: (camera) => camera.counters?.[audio] ?? null },
  ],
});

/** A camera that is off on purpose, or that nobody wants: without this series no alert asks for it. */
const online: Read = ({ state }) =>
  state === 'disabled' || state === 'standby' ? null : Number(state === 'streaming');

const lastFrameAge: Read = ({ counters }, nowMs) =>
  counters === null || counters.lastVideoArrivalMs === 0
    ? null
    : Math.max(0, nowMs - counters.lastVideoArrivalMs) / 1000;

/** Everything that is measured of each camera. */
export const streamMetrics: readonly StreamMetric[] = [
  plain(
    'gauge',
    'svc_stream_online',
    '1 while frames flow, else 0; absent for a camera that is disabled or on standby.',
    online,
  ),
  byMedia('svc_stream_frames_total', 'Frames received whole.', 'videoFrames', 'audioFrames'),
  counter('svc_stream_keyframes_total', 'Keyframes received.', 'keyFrames'),
  byMedia('svc_stream_media_bytes_total', 'Bytes of the frames received.', 'videoBytes', 'audioBytes'),
  plain(
    'counter',
    'svc_stream_received_bytes_total',
    'Bytes that came from the camera by its streams: media, RTSP, RTCP, TLS, wanted or not.',
    (camera) => camera.receivedBytes,
  ),
  counter('svc_stream_packets_total', 'RTP packets received.', 'packets'),
  counter('svc_stream_packets_lost_total', 'RTP packets that never came.', 'packetsLost'),
  counter('svc_stream_packets_late_total', 'RTP packets that came too late to be used.', 'packetsLate'),
  counter('svc_stream_packets_duplicate_total', 'RTP packets that came twice.', 'packetsDuplicate'),
  counter(
    'svc_stream_packets_foreign_total',
    'Packets that were none of the stream: of another host, channel, source or payload type.',
    'packetsForeign',
  ),
  counter('svc_stream_malformed_packets_total', 'Packets that could not be read.', 'malformedPackets'),
  counter(
    'svc_stream_damaged_frames_total',
    'Frames dropped since a piece of them was missing or broken.',
    'damagedFrames',
  ),
  counter('svc_stream_oversized_frames_total', 'Frames dropped for their size.', 'oversizedFrames'),
  counter(
    'svc_stream_undecodable_frames_total',
    'Frames dropped before the first keyframe of a session, or for want of parameter sets.',
    'undecodableFrames',
  ),
  counter(
    'svc_metadata_documents_total',
    "Documents of the camera's own analytics that came, be it in part.",
    'metadataDocuments',
  ),
  counter(
    'svc_metadata_refused_total',
    'Those of them that were not read: too large, not well-formed, incomplete, or too many.',
    'metadataRefused',
  ),
  counter('svc_metadata_objects_total', 'Objects in them, in each picture anew.', 'metadataObjects'),
  counter(
    'svc_stream_garbage_bytes_total',
    'Bytes passed over between RTSP messages and interleaved packets.',
    'garbageBytes',
  ),
  counter(
    'svc_stream_unsent_packets_total',
    'RTCP packets and RTSP answers that could not be sent: the camera reads too slowly, or is out of reach.',
    'unsentPackets',
  ),
  counter(
    'svc_stream_audio_frames_dropped_total',
    'Audio frames without room to wait in.',
    'audioFramesDropped',
  ),
  counter('svc_stream_discontinuities_total', 'Breaks in the media time of the stream.', 'discontinuities'),
  counter('svc_stream_time_jumps_total', 'Jumps of the RTP time that were smoothed out.', 'rtpJumps'),
  counter(
    'svc_stream_wall_steps_total',
    'Times that the wall time of the stream stepped, since the clock of this machine was set.',
    'wallSteps',
  ),
  plain(
    'counter',
    'svc_stream_reconnects_total',
    'Tries to connect after a loss.',
    (camera) => camera.reconnects,
  ),
  plain('gauge', 'svc_stream_fps', 'Video frames a second, over the last 5 s.', (camera) => camera.fps),
  plain(
    'gauge',
    'svc_stream_bytes_per_second',
    'Media bytes a second, over the last 5 s.',
    (camera) => camera.bitrateKbps * 125,
  ),
  plain(
    'gauge',
    'svc_stream_last_frame_age_seconds',
    'Time since the last video frame; absent before the first.',
    lastFrameAge,
  ),
  plain('gauge', 'svc_ring_capacity_bytes', 'Shared memory of the ring.', (camera) => camera.ringBytes),
  counter(
    'svc_ring_replacements_total',
    'Times that the ring was replaced by one that fits better.',
    'replacements',
  ),
  counter(
    'svc_ring_cut_gops_total',
    'GOPs that outgrew what the ring may take: a viewer who came amid one waited for the next keyframe.',
    'cutGops',
  ),
  {
    kind: 'gauge',
    name: 'svc_viewers',
    help: 'Viewers now, by the way the picture takes.',
    label: 'kind',
    series: viewerKinds.map((kind: ViewerKind) => ({
      labelValue: kind,
      read: (camera: CameraFigures) => camera.viewers[kind],
    })),
  },
  plain('gauge', 'svc_recording', '1 while a recording file is being written, else 0.', (camera) =>
    Number(camera.isRecording),
  ),
  plain(
    'counter',
    'svc_unrecorded_frames_total',
    'Video frames that came while the camera was recorded and could not be: the disk was too slow.',
    (camera) => camera.unrecordedFrames,
  ),
  plain(
    'counter',
    'svc_buffer_drops_total',
    'P-frames dropped for slow consumers.',
    (camera) => camera.bufferDrops,
  ),
];
