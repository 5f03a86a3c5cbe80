import { signal } from '@preact/signals';
import type Hls from 'hls.js';
import { accessToken } from '../../data/session.js';
import type { CameraFact, Phase } from './engine-messages.js';
import type { ArchivePlayer, PlayCommand, PlayerEvents } from './player-api.js';

const BEFORE_MS = 30_000;
const AFTER_MS = 3_600_000;
const MIN_RATE = 0.25;
const MAX_RATE = 4;
const LOOK_EVERY_MS = 100;
const SCRUB_EVERY_MS = 300;
/** Farther apart than this another camera is brought back into step. */
const MAX_APART_SEC = 0.4;

type Piece = { readonly startSec: number; readonly durationSec: number; readonly dateMs: number };

/** One camera's recordings in a `<video>`. */
class HlsTrack {
  readonly video = document.createElement('video');
  readonly #camera: string;
  #hls: Hls | null = null;
  #pieces: readonly Piece[] = [];
  #range: readonly [number, number] = [0, 0];
  #loads = 0;
  #wantedMs = 0;
  fault: string | null = null;

  constructor(camera: string) {
    this.#camera = camera;
    this.video.muted = true;
    this.video.playsInline = true;
  }

  /** The moment that is shown. */
  get shownMs(): number | null {
    const sec = this.video.currentTime;
    const piece = this.#pieces.findLast(({ startSec }) => startSec <= sec + 0.001);
    return piece === undefined ? null : piece.dateMs + (sec - piece.startSec) * 1000;
  }

  async seek(timeMs: number): Promise<void> {
    this.#wantedMs = timeMs;
    if (timeMs < this.#range[0] || timeMs > this.#range[1] - 10_000) await this.#load(timeMs);
    else this.#place();
  }

  close(): void {
    this.#loads += 1;
    this.#hls?.destroy();
    this.video.remove();
  }

  #place(): void {
    const piece = this.#pieces.findLast(({ dateMs }) => dateMs <= this.#wantedMs) ?? this.#pieces[0];
    if (piece === undefined) return;
    const inSec = Math.min(Math.max((this.#wantedMs - piece.dateMs) / 1000, 0), piece.durationSec);
    this.video.currentTime = piece.startSec + inSec;
  }

  async #load(timeMs: number): Promise<void> {
    this.#loads += 1;
    const load = this.#loads;
    const range = [timeMs - BEFORE_MS, Math.min(timeMs + AFTER_MS, Date.now())] as const;
    this.#range = range;
    this.#pieces = [];
    const { default: Player } = await import('hls.js');
    if (load !== this.#loads) return;
    this.#hls?.destroy();
    // Its worker comes from a blob, which the content policy forbids.
    const hls = new Player({
      enableWorker: false,
      // Each with a token that is good then: it goes on for longer than any is.
      xhrSetup: async (xhr) => xhr.setRequestHeader('authorization', `Bearer ${await accessToken()}`),
    });
    this.#hls = hls;
    this.fault = null;
    hls.on(Player.Events.LEVEL_LOADED, (_event, { details }) => {
      this.#pieces = details.fragments.flatMap(({ start, duration, programDateTime }) =>
        programDateTime === null ? [] : { startSec: start, durationSec: duration, dateMs: programDateTime },
      );
      this.#place();
    });
    hls.on(Player.Events.ERROR, (_event, { fatal, details }) => {
      if (fatal) this.fault = details;
    });
    const query = new URLSearchParams({
      from: new Date(range[0]).toISOString(),
      to: new Date(Math.max(range[1], range[0] + 1_000)).toISOString(),
    });
    hls.loadSource(`/hls/${encodeURIComponent(this.#camera)}/range.m3u8?${query}`);
    hls.attachMedia(this.video);
  }
}

/** Plays recordings where the browser decodes no single pictures: HLS, by speeds that videos have. */
export class HlsPlayer implements ArchivePlayer {
  readonly timeMs = signal(0);
  readonly phase = signal<Phase>('paused');
  readonly rate = signal(1);
  readonly facts = signal<ReadonlyMap<string, CameraFact>>(new Map());
  readonly isFull = false;
  readonly #tracks = new Map<string, HlsTrack>();
  readonly #events: PlayerEvents;
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  #large = '';
  #scrubbedMs = 0;

  constructor(events: PlayerEvents) {
    this.#events = events;
  }

  mayPlay(rate: number): boolean {
    return rate >= MIN_RATE && rate <= MAX_RATE;
  }

  attach(camera: string, host: HTMLElement): () => void {
    const track = new HlsTrack(camera);
    host.append(track.video);
    this.#tracks.set(camera, track);
    if (this.timeMs.peek() > 0) void track.seek(this.timeMs.peek());
    return () => {
      track.close();
      if (this.#tracks.get(camera) === track) this.#tracks.delete(camera);
    };
  }

  send(command: PlayCommand): void {
    switch (command.op) {
      case 'large':
        this.#large = command.camera;
        break;
      case 'seek':
        this.#seek(command.timeMs, 'paused');
        break;
      case 'scrub': {
        this.timeMs.value = command.timeMs;
        if (performance.now() - this.#scrubbedMs < SCRUB_EVERY_MS) break;
        this.#scrubbedMs = performance.now();
        this.#seek(command.timeMs, 'scrubbing');
        break;
      }
      case 'play':
        this.#play(command.rate);
        break;
      case 'pause':
        this.phase.value = 'paused';
        for (const { video } of this.#tracks.values()) video.pause();
        break;
      case 'sound':
        for (const [camera, { video }] of this.#tracks) video.muted = !command.isOn || camera !== this.#large;
        break;
      case 'snapshot':
        this.#snapshot(command.camera);
        break;
      default:
        // Single pictures need a decoder of one's own.
        break;
    }
  }

  close(): void {
    clearInterval(this.#timer);
    for (const track of this.#tracks.values()) track.close();
    this.#tracks.clear();
  }

  #seek(timeMs: number, phase: Phase): void {
    this.timeMs.value = timeMs;
    this.phase.value = phase;
    for (const track of this.#tracks.values()) {
      track.video.pause();
      void track.seek(timeMs);
    }
  }

  #play(rate: number): void {
    this.rate.value = rate;
    this.phase.value = 'playing';
    for (const { video } of this.#tracks.values()) {
      video.defaultPlaybackRate = rate;
      video.playbackRate = rate;
      void video.play().catch(() => {});
    }
  }

  /** The large one's clock is everybody's. */
  #look(): void {
    const large = this.#tracks.get(this.#large);
    const shownMs = large?.shownMs ?? null;
    if (this.phase.peek() === 'playing' && large !== undefined && shownMs !== null) {
      this.timeMs.value = shownMs;
      if (large.video.ended) this.phase.value = 'end';
      for (const track of this.#tracks.values()) {
        const apartSec = Math.abs((track.shownMs ?? shownMs) - shownMs) / 1000;
        if (track !== large && apartSec > MAX_APART_SEC && !track.video.seeking) void track.seek(shownMs);
      }
    }
    this.facts.value = new Map(
      [...this.#tracks].map(([camera, { shownMs: at, video, fault }]) => [
        camera,
        { camera, shownMs: at, isLoading: video.readyState < 2, fault, drawn: 0 },
      ]),
    );
  }

  #snapshot(camera: string): void {
    const video = this.#tracks.get(camera)?.video;
    const shownMs = this.#tracks.get(camera)?.shownMs ?? this.timeMs.peek();
    const canvas = document.createElement('canvas');
    if (video === undefined || video.videoWidth === 0) {
      this.#events.onSnapshot(camera, null, shownMs);
      return;
    }
    canvas.width = video.videoWidth;
    canvas.height = video.videoHeight;
    canvas.getContext('2d')?.drawImage(video, 0, 0);
    canvas.toBlob((blob) => this.#events.onSnapshot(camera, blob, shownMs), 'image/jpeg', 0.92);
  }
}
