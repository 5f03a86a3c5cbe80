import { accessToken, refreshMe } from '../../data/session.js';
import { FragmentMaker } from '../../player/fragment-maker.js';
import type { TokenSource } from './frames-request.js';
import { type Gop, startUs } from './gop.js';
import { KeyScrub, type ShowKey } from './key-scrub.js';

/** Each keyframe has a place of its own in the buffer: what is put where something is shown isn't shown. */
const STEP_SEC = 10;
const KEPT_SEC = 60;
const SHOW_WITHIN_MS = 2_000;

type ManagedWindow = typeof globalThis & { ManagedMediaSource?: typeof MediaSource };

const token: TokenSource = async (isRefused) => {
  if (isRefused) await refreshMe().catch(() => {});
  return accessToken();
};

const once = (target: EventTarget, name: string): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      target.removeEventListener(name, done);
      resolve();
    };
    // Who is never told goes on nevertheless: the next keyframe may do better.
    const timer = setTimeout(done, SHOW_WITHIN_MS);
    target.addEventListener(name, done);
  });

/**
 * The keyframe of a moment in a `<video>` of its own, over the one that plays: for who drags through time where there is no
 * WebCodecs. Each is asked for alone, and wrapped here: hls.js would load a playlist for each file that is dragged over.
 */
export class KeyStill {
  readonly element = document.createElement('video');
  /** When what is shown was seen; null: it is hidden. */
  shownMs: number | null = null;
  readonly #camera: string;
  #scrub: KeyScrub | null = null;
  #source: MediaSource | null = null;
  #buffer: SourceBuffer | null = null;
  #mime = '';
  #atSec = 0;
  #address = '';
  /** One after another: a buffer takes no two at once. */
  #last: Promise<void> = Promise.resolve();

  constructor(camera: string) {
    this.#camera = camera;
    this.element.muted = true;
    this.element.playsInline = true;
    this.element.disableRemotePlayback = true;
    this.element.hidden = true;
  }

  to(timeMs: number): void {
    this.#scrub ??= new KeyScrub(this.#camera, token, this.#show);
    this.#scrub.to(timeMs);
  }

  /** What comes later is shown no more. */
  hide(): void {
    this.#scrub?.close();
    this.#scrub = null;
    this.shownMs = null;
    this.element.hidden = true;
  }

  close(): void {
    this.hide();
    this.#release();
    this.element.remove();
  }

  readonly #show: ShowKey = (gop, isWanted) => {
    this.#last = this.#last
      .catch(() => {})
      .then(() => (isWanted() ? this.#put(gop, isWanted) : Promise.resolve()));
    return this.#last;
  };

  async #put(gop: Gop, isWanted: () => boolean): Promise<void> {
    const [key] = gop.frames;
    if (key === undefined) return;
    const pieces: Uint8Array<ArrayBuffer>[] = [];
    let mime = '';
    const maker = new FragmentMaker({
      onInit: (found, data) => {
        mime = found;
        pieces.push(data);
      },
      onFragment: (data) => void pieces.push(data),
    });
    maker.takeConfig(gop.config);
    maker.takeFrame(key);
    const buffer = await this.#bufferFor(mime);
    this.#atSec += STEP_SEC;
    buffer.timestampOffset = this.#atSec;
    for (const piece of pieces) {
      buffer.appendBuffer(piece);
      await once(buffer, 'updateend');
    }
    if (!isWanted()) return;
    // The end brings out what a decoder holds back for pictures that never come.
    this.#source?.endOfStream();
    const { buffered } = this.element;
    this.element.currentTime = buffered.length > 0 ? buffered.start(buffered.length - 1) : this.#atSec;
    await once(this.element, 'seeked');
    if (!isWanted()) return;
    this.shownMs = startUs(gop) / 1000;
    this.element.hidden = false;
    if (this.#atSec > KEPT_SEC && !buffer.updating) {
      buffer.remove(0, this.#atSec - STEP_SEC);
      await once(buffer, 'updateend');
    }
  }

  async #bufferFor(mime: string): Promise<SourceBuffer> {
    const isOpen = this.#source !== null && this.#source.readyState !== 'closed';
    if (this.#buffer !== null && isOpen && this.#mime === mime && this.element.error === null)
      return this.#buffer;
    this.#release();
    const Source = (globalThis as ManagedWindow).ManagedMediaSource ?? MediaSource;
    const source = new Source();
    this.#source = source;
    this.#address = URL.createObjectURL(source);
    const opened = once(source, 'sourceopen');
    this.element.src = this.#address;
    await opened;
    this.#mime = mime;
    this.#atSec = 0;
    this.#buffer = source.addSourceBuffer(mime);
    return this.#buffer;
  }

  #release(): void {
    this.#buffer = null;
    this.#source = null;
    if (this.#address !== '') URL.revokeObjectURL(this.#address);
    this.#address = '';
  }
}
