import { RecordingDesk } from '../../src/archive/write/recording-desk.js';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import type { CameraSettings } from '../../src/camera/fleet/camera.js';
import { Cameras } from '../../src/camera/fleet/cameras.js';
import type { CamerasPerWorker } from '../../src/camera/fleet/packing.js';
import {
  type CameraThreadSetup,
  type CameraWorker,
  spawnCameraWorker,
} from '../../src/camera/fleet/worker-thread.js';
import type { StreamInfo, VideoCodec } from '../../src/codec/track.js';
import { BellListener } from '../../src/ring/doorbell.js';
import { RingReader } from '../../src/ring/reader.js';
import { openedRoot } from '../archive/opened-root.js';
import { accessUnitHash, hashOf, isParameterSet, splitNals } from './access-units.js';
import { until } from './until.js';

/** A frame as a reader in another thread got it. */
export type SeenFrame = {
  /** Of video: by its slices and SEI alone, as `accessUnitHash` names the source's frames. */
  readonly hash: string;
  readonly isVideo: boolean;
  readonly isKey: boolean;
  readonly discontinuity: boolean;
  readonly damaged: boolean;
  readonly ptsTicks: number;
  readonly dtsTicks: number;
  readonly wallMs: number;
  readonly info: StreamInfo | null;
};

export const cameraAt = (id: string, url: string, changes: Partial<CameraSettings> = {}): CameraSettings => ({
  id,
  source: { url, transport: 'tcp' },
  host: '127.0.0.1',
  disabled: false,
  isRecorded: false,
  ...changes,
});

/** The real engine, worker threads and all, with every log record kept. */
export class Engine {
  readonly cameras: Cameras;
  /** In the order in which they were started, ended ones too. */
  readonly workers: CameraWorker[] = [];
  readonly records: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[] = [];

  /** What recorders left unclosed. */
  readonly left: { cameraId: string; fileName: string }[] = [];
  readonly desk: RecordingDesk;

  constructor(
    camerasPerWorker: CamerasPerWorker = 'auto',
    archive = { archiveDir: '/', fileSeconds: 3600 },
    ringMemoryBytes = Number.POSITIVE_INFINITY,
    relay: CameraThreadSetup['relay'] = null,
  ) {
    const log = createLogger((level, message, fields) => this.records.push({ level, message, fields }));
    const root = openedRoot(archive.archiveDir).memory;
    this.desk = new RecordingDesk(
      { ...archive, root },
      {
        ...{ clock: systemClock, log },
        onRefused: () => {},
        recover: (cameraId, fileName) => this.left.push({ cameraId, fileName }),
      },
    );
    this.cameras = new Cameras(
      { camerasPerWorker, coreCount: 2, ringMemoryBytes, relay },
      {
        clock: systemClock,
        log,
        recordings: this.desk,
        spawn: (name, events, setup) => {
          const worker = spawnCameraWorker(name, events, setup);
          this.workers.push(worker);
          return worker;
        },
      },
    );
  }

  async untilState(cameraId: string, state: string, deadlineMs = 30_000): Promise<void> {
    await until(`${cameraId} is ${state}`, () => this.cameras.get(cameraId)?.status().state === state, {
      deadlineMs,
      describe: () =>
        JSON.stringify({ status: this.cameras.get(cameraId)?.status(), log: this.records.slice(-5) }),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cameras.stop();
  }
}

/** A frame has no parameter sets, or all that its description has, at its head. */
const requireOwnSets = (codec: VideoCodec, nals: readonly Buffer[], info: StreamInfo | null): void => {
  const sets = nals.filter((nal) => isParameterSet(codec, nal));
  if (sets.length === 0 || info === null) return;
  const { vps, sps, pps } = info.video;
  const described = [...vps, ...sps, ...pps];
  const isOwn = described.length === sets.length && described.every((set, at) => nals[at]!.equals(set));
  if (!isOwn) throw new Error('a frame of the ring has parameter sets that are not its own');
};

/** A reader on this thread that keeps every frame of one camera, woken by the bell. */
export class FrameLog {
  readonly frames: SeenFrame[] = [];
  #reader: RingReader | null = null;
  #listener: BellListener | null = null;
  readonly #unfollow: () => void;
  readonly #frame = Buffer.allocUnsafe(6 << 20);

  constructor(cameras: Cameras, cameraId: string) {
    this.#unfollow = cameras.follow(cameraId, (feed) => {
      this.#listener?.stop();
      this.#listener = null;
      if (feed === null) return;
      if (this.#reader === null) {
        this.#reader = new RingReader(feed.ring, { start: 'latest-key' });
        this.#reader.subscribe();
      } else {
        this.#reader.moveTo(feed.ring);
      }
      this.#listener = new BellListener(feed.bell, () => this.#readAll());
      this.#listener.start();
    });
  }

  get video(): SeenFrame[] {
    return this.frames.filter((frame) => frame.isVideo);
  }

  get audio(): SeenFrame[] {
    return this.frames.filter((frame) => !frame.isVideo);
  }

  get droppedFrames(): number {
    return this.#reader?.droppedFrames ?? 0;
  }

  [Symbol.dispose](): void {
    this.#unfollow();
    this.#listener?.stop();
    this.#reader?.unsubscribe();
  }

  #readAll(): void {
    const reader = this.#reader;
    while (reader?.next()) {
      if (!reader.copyTo(this.#frame, 0)) continue;
      const { isVideo, isKey, discontinuity, damaged, ptsTicks, dtsTicks, wallMs } = reader;
      const info = reader.streamInfo();
      const bytes = this.#frame.subarray(0, reader.lengthBytes);
      const codec = info?.video.codec ?? 'h264';
      if (isVideo) requireOwnSets(codec, splitNals(bytes), info);
      const hash = isVideo ? accessUnitHash(codec, bytes) : hashOf(bytes);
      this.frames.push({ hash, isVideo, isKey, discontinuity, damaged, ptsTicks, dtsTicks, wallMs, info });
    }
  }
}
