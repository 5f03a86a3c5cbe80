import { systemClock } from '../../src/base/clock.js';
import { ThreadStats } from '../../src/base/thread-stats.js';
import type { CameraFigures, MetricsSource, StreamCounters } from '../../src/ops/metrics-source.js';
import { Threads } from '../../src/ops/threads.js';

/** Counters as a healthy camera has them after a minute. */
export const sampleCounters = (changes: Partial<StreamCounters> = {}): StreamCounters => ({
  videoFrames: 1_500,
  audioFrames: 3_000,
  keyFrames: 30,
  videoBytes: 30_000_000,
  audioBytes: 480_000,
  audioFramesDropped: 0,
  discontinuities: 0,
  replacements: 1,
  cutGops: 4,
  lastVideoArrivalMs: systemClock.monotonicMs() - 40,
  packets: 22_260,
  packetsLost: 3,
  packetsLate: 1,
  packetsDuplicate: 5,
  packetsForeign: 6,
  malformedPackets: 0,
  damagedFrames: 1,
  oversizedFrames: 0,
  rtpJumps: 0,
  wallSteps: 14,
  undecodableFrames: 11,
  garbageBytes: 12,
  unsentPackets: 13,
  metadataDocuments: 0,
  metadataRefused: 0,
  metadataObjects: 0,
  ...changes,
});

/** A camera as the application hands it to the metrics. */
export const sampleCamera = (cameraId: string, changes: Partial<CameraFigures> = {}): CameraFigures => ({
  cameraId,
  state: 'streaming',
  counters: sampleCounters(),
  receivedBytes: 31_000_000,
  ringBytes: 2_621_440,
  fps: 25,
  bitrateKbps: 4_000,
  viewers: { websocket: 2, wall: 3, hls: 0, whep: 1, rtsp: 3 },
  isRecording: true,
  unrecordedFrames: 3,
  reconnects: 0,
  bufferDrops: 7,
  ...changes,
});

/** A whole source; `cameras` may be replaced between scrapes. */
export const sampleSource = (): MetricsSource & { list: CameraFigures[] } => {
  const threads = new Threads();
  const stats = new ThreadStats(systemClock);
  stats.sample();
  threads.add('main', stats.shared);
  threads.add('tasks-1', null);
  const list = [sampleCamera('front-door'), sampleCamera('yard.2', { state: 'reconnecting', fps: 0 })];
  return {
    threads,
    list,
    cameras() {
      return this.list;
    },
    fleet: () => ({
      threadsLost: { died: 2, hung: 1 },
      rings: { budgetBytes: 2e9, usedBytes: 6e6, ceilingBytes: 64e6 },
    }),
    components: async () => ({ database: true, archive: true, router: false }),
    storage: async () => ({ freeBytes: 40e9, totalBytes: 100e9 }),
    brokenRecordings: () => ({ files: 2, bytes: 5e6 }),
    detection: () => ({
      ...{ waiting: 3, dropped: 4, looked: 50, failed: 5, decodeSec: 1.5, inferSec: 2.5, decoderRestarts: 6 },
      ...{ kept: 40, lost: 8 },
      byLabel: new Map([['person', 7]]),
      ages: {
        taken: { bounds: [0.5, 1], counts: [30, 15, 5], sum: 25 },
        known: { bounds: [0.5, 1], counts: [20, 20, 10], sum: 45 },
      },
    }),
    onvifEvents: () => ({ heard: 3, missed: 1 }),
    archiveWrites: () => ({ bounds: [0.1, 1], counts: [7, 2, 1], sum: 3.5 }),
    eventRecording: () => ({ cut: 12, deleted: 13, unreadable: 1 }),
    pictures: () => ({ decoded: 21, failed: { missing: 0, too_slow: 2 }, waiting: 4 }),
    notices: () => ({
      webhooks: { waiting: 3, sending: 1, sent: 5, failed: 2, dropped: 1 },
      mqtt: { isUp: true, waiting: 2, sent: 7, dropped: 1, connects: 2 },
    }),
    cluster: () => ({
      boxes: new Map([
        ['box-1', true],
        ['box-2', true],
      ]),
      ...{ hasMajority: true, own: 3, unowned: 0, doubled: 0 },
      clocksAheadMs: new Map([['box-2', -1_500]]),
      relay: { pulls: 2, bytes: 7_000, droppedFrames: 5, lagMs: 250 },
    }),
    store: () => ({
      ...{ isUp: true, waiting: 4, oldestSec: 7_200, copied: 30, deleted: 5, failed: 2, sentBytes: 6e9 },
    }),
    events: () => ({ readers: 2, told: { cameras: 9, config: 0 } }),
  };
};
