import type { Ticks } from '../../../src/base/clock.js';
import { createLogger } from '../../../src/base/log.js';
import { type FlacSink, SoundBlocks } from '../../../src/flac/sound-blocks.js';
import type { CameraFeed, CameraFeeds } from '../../../src/live/feeds.js';
import { type HlsViewer, LiveHls } from '../../../src/live/hls/live-hls.js';
import { Numbers } from '../../../src/live/hls/window.js';
import type { Remark } from '../../../src/mpegts/web-vtt.js';
import { frameFlag } from '../../../src/ring/frame-flag.js';
import { gopsOf, infoOf, type SourceFrame } from '../../mpegts/mux.js';
import { splitNals } from '../../support/access-units.js';
import type { AudioStream, VideoStream } from '../../support/elementary-stream.js';
import { FakeClock } from '../../support/fake-clock.js';
import { makeRing, stampOf, type TestRing } from '../../support/ring.js';

const BEAT_MS = 50;

/** A camera's ring that a fixture is written to, over and over, in the time of a fake clock. */
export class HlsCamera implements FlacSink {
  ring: TestRing = makeRing();
  /** Frames written so far, as they were sent. */
  readonly sent: SourceFrame[] = [];
  isOnDemand = false;
  readonly listeners = new Set<(feed: CameraFeed | null) => void>();
  readonly #clock: FakeClock;
  readonly #video: VideoStream;
  readonly #audio: AudioStream | null;
  readonly #frames: readonly SourceFrame[];
  /** As ingest has them. */
  readonly #blocks: SoundBlocks | null;
  #next = 0;
  /** Seconds of media time that are written. */
  #seconds = 0;
  #isBack = false;
  #toldRing = this.ring.rings[0]!;

  constructor(clock: FakeClock, video: VideoStream, audio: AudioStream | null = null) {
    this.#clock = clock;
    this.#video = video;
    this.#audio = audio;
    this.#frames = gopsOf(video, audio).flat();
    this.#blocks = audio === null ? null : SoundBlocks.of(audio.track, this);
    this.ring.writer.setStreamInfo(infoOf(video, audio?.track ?? null));
  }

  /** Writes what is due in so many seconds, while they pass, in steps. */
  play(seconds: number, stepMs = BEAT_MS): void {
    const end = this.#seconds + seconds;
    while (this.#seconds < end) {
      this.#seconds = Math.min(end, this.#seconds + stepMs / 1000);
      while (this.#dueSeconds() < this.#seconds) this.#write();
      this.#clock.advance(stepMs);
    }
  }

  /** The camera is away for a while; it comes back with a keyframe. */
  away(seconds: number): void {
    this.#clock.advance(seconds * 1000);
    const turnsDone = Math.ceil(this.#next / this.#frames.length);
    this.#next = turnsDone * this.#frames.length;
    this.#seconds = turnsDone * this.#turnSeconds();
    this.#isBack = true;
  }

  flacFrame(bytes: Buffer, lengthBytes: number, ptsTicks: Ticks): void {
    const arrivalMs = this.#clock.monotonicMs();
    const stamp = stampOf({ ptsTicks, wallMs: this.#clock.wallMs(), arrivalMs, flags: frameFlag.keptOnly });
    this.ring.writer.writeAudio(bytes, 0, lengthBytes, stamp);
  }

  /** Tells everybody that the camera is gone. */
  remove(): void {
    for (const listener of [...this.listeners]) listener(null);
  }

  #tellOfRing(): void {
    const ring = this.ring.rings.at(-1)!;
    if (ring === this.#toldRing) return;
    this.#toldRing = ring;
    for (const listener of this.listeners) listener({ ring, bell: new SharedArrayBuffer(128) });
  }

  #turnSeconds(): number {
    return this.#video.durationTicks / 90_000;
  }

  #dueSeconds(): number {
    const turn = Math.floor(this.#next / this.#frames.length);
    return turn * this.#turnSeconds() + this.#frames[this.#next % this.#frames.length]!.seconds;
  }

  #write(): void {
    const turn = Math.floor(this.#next / this.#frames.length);
    const source = this.#frames[this.#next % this.#frames.length]!;
    this.#next += 1;
    const hz = source.isAudio ? this.#audio!.clockRateHz : 90_000;
    const shift = turn * this.#turnSeconds() * hz;
    const frame = { ...source, ptsTicks: source.ptsTicks + shift, dtsTicks: source.dtsTicks + shift };
    const { writer } = this.ring;
    const { ptsTicks, dtsTicks } = frame;
    const arrivalMs = this.#clock.monotonicMs();
    const wallMs = this.#clock.wallMs();
    if (frame.isAudio) {
      const flags = this.#blocks === null ? 0 : frameFlag.sentOnly;
      writer.writeAudio(frame.bytes, 0, frame.bytes.length, stampOf({ ptsTicks, wallMs, arrivalMs, flags }));
      this.#blocks?.add(frame.bytes, 0, frame.bytes.length, ptsTicks as Ticks, false);
    } else {
      for (const nal of splitNals(frame.bytes)) {
        writer.beginNal();
        writer.append(nal, 0, nal.length);
        writer.endNal();
      }
      const flags = (frame.isKey ? frameFlag.key : 0) | (this.#isBack ? frameFlag.discontinuity : 0);
      this.#isBack = false;
      writer.commitVideo(stampOf({ ptsTicks, dtsTicks, wallMs, arrivalMs, flags }));
    }
    this.sent.push(frame);
    this.#tellOfRing();
  }
}

/** A cameras' owner with whatever the test puts in. */
export const feedsOf = (cameras: ReadonlyMap<string, HlsCamera>): CameraFeeds => ({
  follow: (cameraId, listener) => {
    const camera = cameras.get(cameraId);
    if (camera === undefined) {
      listener(null);
      return () => {};
    }
    camera.listeners.add(listener);
    listener({ ring: camera.ring.rings.at(-1)!, bell: new SharedArrayBuffer(128) });
    return () => void camera.listeners.delete(listener);
  },
  isOnDemand: (source) => cameras.get(source)?.isOnDemand === true,
});

export type HlsRig = {
  readonly clock: FakeClock;
  readonly cameras: Map<string, HlsCamera>;
  readonly hls: LiveHls;
  readonly errors: string[];
  readonly alwaysOn: string[];
  /** What the subtitles say of `door`. */
  readonly remarks: Remark[];
};

/** Live HLS over fake cameras and a fake clock. */
export const makeHls = (clock = new FakeClock(), memoryBytes = Number.POSITIVE_INFINITY): HlsRig => {
  const cameras = new Map<string, HlsCamera>();
  const errors: string[] = [];
  const alwaysOn: string[] = [];
  const remarks: Remark[] = [];
  const log = createLogger((level, message, fields) => {
    if (level === 'error') errors.push(`${message} ${JSON.stringify(fields)}`);
  });
  const hls = new LiveHls({
    ...{ clock, log, feeds: feedsOf(cameras), alwaysOn: () => alwaysOn, memoryBytes },
    remarks: (cameraId, fromMs, toMs) =>
      cameraId === 'door' ? remarks.filter(({ wallMs }) => wallMs >= fromMs && wallMs < toMs) : [],
  });
  return { clock, cameras, hls, errors, alwaysOn, remarks };
};

export const viewer: HlsViewer = { session: null, clientAddress: '192.0.2.1', stream: 'main' };

/** What a channel begins to count with that is asked for before the clock moves. */
export const FIRST = new Numbers(new FakeClock().wallMs()).segment;

/** A whole file of the camera `door`. */
export const fileBytes = async (hls: LiveHls, name: string): Promise<Buffer> =>
  Buffer.concat((await hls.file('door', name, viewer)).pieces);

/** Whether it has come to an end by now. */
export const isSettled = async (request: Promise<unknown>): Promise<boolean> => {
  let settled = false;
  void request.catch(() => {}).finally(() => (settled = true));
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return settled;
};
