import type { Screen, ScreenEvents } from './screen.js';
import { playAnyhow } from './watched-video.js';

const FAST_BEHIND_SEC = 0.4;
const FAST_RATE = 1.1;
const JUMP_BEHIND_SEC = 1.5;
/** Where it jumps to: a little before the end, so that it doesn't wait at once. */
const EDGE_SEC = 0.1;
const KEPT_SEC = 6;
const LOOK_EVERY_MS = 250;
/** Fragments that wait for the buffer: more than this many are a player that hangs. */
const MAX_WAITING = 300;

type ManagedWindow = typeof globalThis & { ManagedMediaSource?: typeof MediaSource };

const sourceClass = (): typeof MediaSource | undefined =>
  (globalThis as ManagedWindow).ManagedMediaSource ?? globalThis.MediaSource;

export const hasMse = (): boolean => sourceClass() !== undefined;

/** A `<video>` that is fed fragments, and kept at the live edge. */
export class MseScreen implements Screen {
  readonly element: HTMLVideoElement;
  readonly #events: ScreenEvents;
  readonly #timer: ReturnType<typeof setInterval>;
  #source: MediaSource | null = null;
  #buffer: SourceBuffer | null = null;
  #mime = '';
  #waiting: ArrayBuffer[] = [];
  #address = '';
  #isClosed = false;
  #newestMs = 0;
  #lastSec = 0;

  constructor(events: ScreenEvents) {
    this.#events = events;
    const video = document.createElement('video');
    video.muted = true;
    video.autoplay = true;
    video.playsInline = true;
    video.disableRemotePlayback = true;
    this.element = video;
    this.#timer = setInterval(() => this.#keepLive(), LOOK_EVERY_MS);
  }

  /** Another stream, or the same one described anew: a new buffer takes it. */
  init(mime: string, data: ArrayBuffer): void {
    const Source = sourceClass();
    if (Source === undefined || !Source.isTypeSupported(mime)) {
      this.#events.onFailed('codec', mime);
      return;
    }
    this.#mime = mime;
    this.#waiting = [data];
    this.#release();
    const source = new Source();
    this.#source = source;
    this.#address = URL.createObjectURL(source);
    source.addEventListener('sourceopen', () => this.#open(source), { once: true });
    this.element.src = this.#address;
    playAnyhow(this.element);
  }

  /** `wallMs`: when the service saw that frame. */
  add(data: ArrayBuffer, wallMs: number): void {
    if (this.#source === null || this.#isClosed) return;
    this.#newestMs = wallMs;
    this.#waiting.push(data);
    if (this.#waiting.length > MAX_WAITING) this.#events.onFailed('failed', 'the buffer takes nothing');
    else this.#feed();
  }

  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#release();
    this.element.removeAttribute('src');
    this.element.load();
  }

  #release(): void {
    this.#buffer = null;
    this.#source = null;
    if (this.#address !== '') URL.revokeObjectURL(this.#address);
    this.#address = '';
  }

  #open(source: MediaSource): void {
    if (this.#source !== source) return;
    try {
      const buffer = source.addSourceBuffer(this.#mime);
      buffer.addEventListener('updateend', () => this.#feed());
      buffer.addEventListener('error', () => this.#fail('the buffer refuses a frame'));
      this.#buffer = buffer;
      this.#feed();
    } catch (fault) {
      this.#events.onFailed('codec', (fault as Error).message);
    }
  }

  #feed(): void {
    const buffer = this.#buffer;
    if (buffer === null || buffer.updating || this.#source?.readyState !== 'open') return;
    const [first] = this.#waiting;
    if (first === undefined) return;
    const all = this.#waiting.length === 1 ? first : concat(this.#waiting).buffer;
    this.#waiting = [];
    try {
      buffer.appendBuffer(all);
    } catch (fault) {
      this.#fail((fault as Error).message);
    }
  }

  #fail(message: string): void {
    if (this.#isClosed) return;
    this.#release();
    this.#events.onFailed('failed', this.element.error?.message || message);
  }

  /** A little behind it goes faster, far behind it jumps; what was seen is let go. */
  #keepLive(): void {
    const { element: video } = this;
    const { buffered } = video;
    if (buffered.length === 0) return;
    const endSec = buffered.end(buffered.length - 1);
    const startSec = buffered.start(buffered.length - 1);
    const behindSec = endSec - video.currentTime;
    // A frame behind a pause lasts long until the next one comes, and may have been jumped into.
    const isAhead = behindSec < -EDGE_SEC;
    if (behindSec > JUMP_BEHIND_SEC || isAhead || video.currentTime < startSec)
      video.currentTime = Math.max(startSec, endSec - EDGE_SEC);
    video.playbackRate = behindSec > FAST_BEHIND_SEC ? FAST_RATE : 1;
    if (video.paused) playAnyhow(video);
    if (video.currentTime !== this.#lastSec && video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) {
      this.#lastSec = video.currentTime;
      this.#events.onPicture(this.#newestMs - behindSec * 1_000);
    }
    const buffer = this.#buffer;
    if (buffer !== null && !buffer.updating && video.currentTime - buffered.start(0) > 2 * KEPT_SEC)
      buffer.remove(0, video.currentTime - KEPT_SEC);
  }
}

const concat = (parts: readonly ArrayBuffer[]): Uint8Array<ArrayBuffer> => {
  const whole = new Uint8Array(parts.reduce((total, { byteLength }) => total + byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(new Uint8Array(part), at);
    at += part.byteLength;
  }
  return whole;
};
