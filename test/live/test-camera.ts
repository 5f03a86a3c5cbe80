import type { CameraFeed } from '../../src/live/feeds.js';
import type { RingOptions } from '../../src/ring/capacity.js';
import { Bell } from '../../src/ring/doorbell.js';
import { RingWriter } from '../../src/ring/writer.js';
import { KEY, nalOf, stampOf, streamInfo, writeFrame } from '../support/ring.js';

export const FRAME_MS = 40;
const TICKS_PER_FRAME = 3600;
/** As `streamInfo` has it. */
const SOUND_HZ = 16_000;

type Listener = (feed: CameraFeed | null) => void;

/** A camera without a camera: frames that tell their number, in a ring of this thread. */
export class TestCamera {
  readonly bell = new Bell();
  framesWritten = 0;
  isOnDemand = false;
  /** When frames arrive that are written now. */
  arrivalMs: () => number = () => 0;
  writer: RingWriter;
  readonly #options: Partial<RingOptions>;
  readonly #listeners = new Set<Listener>();
  #feed: CameraFeed | null = null;
  #firstDts = 0;

  constructor(options: Partial<RingOptions> = {}) {
    this.#options = options;
    this.writer = this.#makeRing();
    this.describe(1);
  }

  get followers(): number {
    return this.#listeners.size;
  }

  describe(marker: number): void {
    this.writer.setStreamInfo(streamInfo(marker));
  }

  follow(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#feed !== null) listener(this.#feed);
    return () => void this.#listeners.delete(listener);
  }

  /** A frame of one NAL unit that begins with the frame's number. */
  write(isKey: boolean, lengthBytes = 600, isRung = true): void {
    const number = this.framesWritten;
    this.framesWritten += 1;
    const dts = this.#firstDts + number * TICKS_PER_FRAME;
    writeFrame(this.writer, this.nal(number, isKey, lengthBytes), {
      ...{ dts, flags: isKey ? KEY : 0, arrivalMs: this.arrivalMs() },
    });
    if (isRung) this.bell.ringIfNeeded();
  }

  /** What a frame consists of. */
  protected nal(number: number, _isKey: boolean, lengthBytes: number): Buffer {
    return nalOf(number, lengthBytes);
  }

  /** A frame of sound that was made with the newest picture; it begins with its number. */
  hear(number: number, flags = 0): void {
    const seconds = ((this.framesWritten - 1) * TICKS_PER_FRAME) / 90_000;
    const bytes = Buffer.alloc(100, number);
    this.writer.writeAudio(bytes, 0, bytes.length, stampOf({ ptsTicks: seconds * SOUND_HZ, flags }));
    this.bell.ringIfNeeded();
  }

  /** The camera was switched off and on again: another ring, whose times begin anew. */
  restart(): void {
    this.writer.close();
    this.#firstDts = -this.framesWritten * TICKS_PER_FRAME;
    this.writer = this.#makeRing();
    this.describe(1);
  }

  /** Nobody wanted it; `restart` wakes it. */
  sleep(): void {
    this.#feed = null;
  }

  delete(): void {
    this.#feed = null;
    for (const listener of this.#listeners) listener(null);
  }

  #makeRing(): RingWriter {
    const show = (ring: SharedArrayBuffer): void => {
      this.#feed = { ring, bell: this.bell.memory };
      for (const listener of this.#listeners) listener(this.#feed);
    };
    const writer = new RingWriter(this.#options, { bell: this.bell, onReplaced: show });
    show(writer.ring);
    return writer;
  }
}
