import { signal } from '@preact/signals';
import { EMPTY_LANE, gapAt, type Lane } from '../tape/lane.js';
import type { KnownLane, Phase } from './engine-messages.js';
import { type CameraFact, factsOf } from './facts.js';
import { HlsTrack } from './hls-track.js';
import { KeyStill } from './key-still.js';
import type { ArchivePlayer, PlayCommand, PlayerEvents } from './player-api.js';

const MIN_RATE = 0.25;
const MAX_RATE = 4;
const LOOK_EVERY_MS = 100;
/** A still goes once the video shows about what it showed. */
const SAME_MS = 30_000;
/** Farther apart than this another camera is brought back into step. */
const MAX_APART_SEC = 0.4;

/** Plays recordings where the browser decodes no single pictures: HLS, by speeds that videos have. */
export class HlsPlayer implements ArchivePlayer {
  readonly timeMs = signal(0);
  readonly phase = signal<Phase>('paused');
  readonly rate = signal(1);
  readonly facts = signal<ReadonlyMap<string, CameraFact>>(new Map());
  readonly isFull = false;
  readonly #tracks = new Map<string, HlsTrack>();
  readonly #stills = new Map<string, KeyStill>();
  readonly #events: PlayerEvents;
  readonly #timer = setInterval(() => this.#look(), LOOK_EVERY_MS);
  #lanes: ReadonlyMap<string, KnownLane> = new Map();
  #large = '';

  constructor(events: PlayerEvents) {
    this.#events = events;
  }

  mayPlay(rate: number): boolean {
    return rate >= MIN_RATE && rate <= MAX_RATE;
  }

  attach(camera: string, host: HTMLElement): () => void {
    const track = new HlsTrack(camera);
    track.lane = this.#laneOf(camera);
    const still = new KeyStill(camera);
    host.append(track.video, still.element);
    this.#stills.set(camera, still);
    this.#tracks.set(camera, track);
    if (this.timeMs.peek() > 0) track.seek(this.timeMs.peek());
    if (this.#isPlaying) track.play(this.rate.peek());
    return () => {
      track.close();
      still.close();
      if (this.#tracks.get(camera) === track) this.#tracks.delete(camera);
      if (this.#stills.get(camera) === still) this.#stills.delete(camera);
    };
  }

  send(command: PlayCommand): void {
    switch (command.op) {
      case 'large':
        this.#large = command.camera;
        break;
      case 'seek':
        this.#seek(command.timeMs);
        break;
      case 'scrub':
        this.#scrub(command.timeMs);
        break;
      case 'play':
        this.#play(command.rate);
        break;
      case 'pause':
        this.#pause();
        break;
      case 'lanes':
        this.#lanes = new Map(Object.entries(command.lanes));
        for (const [camera, track] of this.#tracks) track.lane = this.#laneOf(camera);
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
    for (const track of [...this.#tracks.values(), ...this.#stills.values()]) track.close();
    this.#tracks.clear();
    this.#stills.clear();
  }

  /** Keyframes alone: the video would load anew for each place that somebody drags over. */
  #scrub(timeMs: number): void {
    this.timeMs.value = timeMs;
    this.phase.value = 'scrubbing';
    for (const [camera, track] of this.#tracks) {
      track.pause();
      const still = this.#stills.get(camera);
      if (gapAt(track.lane, timeMs) === null) still?.to(timeMs);
      else still?.hide();
    }
  }

  #seek(timeMs: number): void {
    this.timeMs.value = timeMs;
    this.phase.value = 'paused';
    for (const track of this.#tracks.values()) {
      track.pause();
      track.seek(timeMs);
    }
  }

  #laneOf(camera: string): Lane {
    return { ...EMPTY_LANE, ...this.#lanes.get(camera) };
  }

  get #isPlaying(): boolean {
    return ['playing', 'waiting', 'end'].includes(this.phase.peek());
  }

  #play(rate: number): void {
    this.rate.value = rate;
    this.phase.value = 'waiting';
    for (const track of this.#tracks.values()) track.play(rate);
  }

  #pause(): void {
    const large = this.#tracks.get(this.#large);
    // Nobody may have looked for a while: it stands where the video stands.
    if (this.#isPlaying && large !== undefined) this.#keepStep(large);
    this.phase.value = 'paused';
    for (const track of this.#tracks.values()) track.pause();
  }

  /** The large one's clock is everybody's. */
  #look(): void {
    const tracks = [...this.#tracks];
    // Who drags over time sees keyframes, and asks for the place where that ends.
    if (this.phase.peek() !== 'scrubbing') for (const [, track] of tracks) track.look();
    if (this.#isPlaying) this.#follow();
    const told = tracks.map(([camera, track]) => this.#factOf(camera, track));
    this.facts.value = factsOf(this.facts.peek(), told);
  }

  #factOf(camera: string, track: HlsTrack): CameraFact {
    const { video, shownMs, fault, retrying } = track;
    const still = this.#stills.get(camera) ?? null;
    const isLoading = video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA || video.seeking;
    const isThere = shownMs !== null && Math.abs(shownMs - this.timeMs.peek()) < SAME_MS;
    if (this.phase.peek() !== 'scrubbing' && isThere && !isLoading) still?.hide();
    const stillMs = still?.shownMs ?? null;
    return {
      ...{ camera, fault, retrying, drawn: 0, shownMs: stillMs ?? shownMs },
      ratio: video.videoWidth / Math.max(video.videoHeight, 1),
      isLoading: isLoading && stillMs === null,
    };
  }

  #follow(): void {
    const large = this.#tracks.get(this.#large);
    if (large === undefined) return;
    const isWaiting = large.video.readyState < HTMLMediaElement.HAVE_FUTURE_DATA;
    this.phase.value = large.isAtEnd ? 'end' : isWaiting ? 'waiting' : 'playing';
    this.#keepStep(large);
  }

  #keepStep(large: HlsTrack): void {
    const { shownMs } = large;
    if (shownMs === null || large.video.seeking) return;
    this.timeMs.value = shownMs;
    for (const track of this.#tracks.values()) {
      // What has nothing then is nowhere near, and comes when it has.
      if (track === large || track.video.seeking || gapAt(track.lane, shownMs) !== null) continue;
      const apartSec = Math.abs((track.shownMs ?? shownMs) - shownMs) / 1000;
      if (apartSec > MAX_APART_SEC) track.seek(shownMs);
    }
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
