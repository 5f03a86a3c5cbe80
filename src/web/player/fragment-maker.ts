import { fragment, initSegment, mimeOf } from './boxes.js';
import type { ConfigMessage, FrameMessage } from './messages.js';
import { nalUnits, withLengths } from './nal-units.js';

const FIRST_DURATION_US = 66_667;
const MIN_DURATION_US = 1_000;
const MAX_DURATION_US = 10_000_000;

export type FragmentEvents = {
  onInit(mime: string, data: Uint8Array<ArrayBuffer>): void;
  onFragment(data: Uint8Array<ArrayBuffer>, wallMs: number): void;
};

/** One stream as fragments of MP4 for a `<video>`, a frame each: where there is no WebCodecs. */
export class FragmentMaker {
  readonly #events: FragmentEvents;
  #config: ConfigMessage | null = null;
  #isNew = false;
  #isAwaitingKey = true;
  #sequence = 0;
  #beginUs: number | null = null;
  #lastUs: number | null = null;
  #durationUs = FIRST_DURATION_US;
  #lastIndex: number | null = null;

  constructor(events: FragmentEvents) {
    this.#events = events;
  }

  takeConfig(config: ConfigMessage): void {
    this.#config = config;
    this.#isNew = true;
    this.#isAwaitingKey = true;
  }

  takeFrame(frame: FrameMessage): void {
    const { isKey, index, decodeUs } = frame;
    if (this.#lastIndex !== null && index !== (this.#lastIndex + 1) % 2 ** 32) this.#isAwaitingKey = true;
    this.#lastIndex = index;
    if (isKey) this.#isAwaitingKey = false;
    if (this.#isAwaitingKey || this.#config === null) return;
    if (this.#isNew) {
      this.#events.onInit(mimeOf(this.#config), initSegment(this.#config));
      this.#isNew = false;
      this.#beginUs = decodeUs;
      this.#lastUs = null;
    }
    this.#push(frame);
  }

  #push({ decodeUs, compositionUs, isKey, data, wallUs }: FrameMessage): void {
    if (this.#lastUs !== null) {
      // How long this one lasts is known with the next one alone: as long as the last one did.
      const sinceUs = decodeUs - this.#lastUs;
      this.#durationUs = Math.min(MAX_DURATION_US, Math.max(MIN_DURATION_US, sinceUs));
    }
    this.#lastUs = decodeUs;
    this.#sequence += 1;
    const bytes = fragment({
      sequence: this.#sequence,
      decodeUs: Math.max(0, decodeUs - (this.#beginUs ?? decodeUs)),
      durationUs: this.#durationUs,
      compositionUs,
      isKey,
      data: withLengths(nalUnits(data)),
    });
    this.#events.onFragment(bytes, wallUs / 1_000);
  }
}
