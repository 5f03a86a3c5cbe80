import { systemClock } from '../../src/base/clock.js';
import { FRAME_NUMBERS, frameNumber, sendTimeMs } from '../../test/support/frame-generator.js';
import { Latencies } from '../latencies.js';

/** What all viewers of a process saw while they were measured. */
export class Seen {
  readonly latencies = new Latencies();
  /** Of a viewer that asks again and again: its questions' answers, behind the last frame that they tell of. */
  readonly reloads = new Latencies();
  readonly firstPictures = new Latencies();
  frames = 0;
  lostFrames = 0;
  lostPackets = 0;
  bytes = 0;
  isMeasuring = false;
  /** Why viewers ended that should not have. */
  readonly faults: string[] = [];

  begin(): void {
    this.latencies.clear();
    this.reloads.clear();
    this.frames = 0;
    this.lostFrames = 0;
    this.lostPackets = 0;
    this.bytes = 0;
    this.isMeasuring = true;
  }
}

/** One picture as one viewer sees it: how late each frame is, and by their numbers which are missing. */
export class FrameWatch {
  readonly #seen: Seen;
  readonly #startMs: number;
  readonly #onFirst: () => void;
  #next = -1;

  /** `startMs`: when somebody began to wait for it. */
  constructor(seen: Seen, onFirst: () => void, startMs = systemClock.monotonicMs()) {
    this.#seen = seen;
    this.#startMs = startMs;
    this.#onFirst = onFirst;
  }

  /** A whole stamped frame that ends at `end` is there. */
  onFrame(bytes: Buffer, end: number): void {
    this.count(bytes, end);
    if (this.#seen.isMeasuring) this.#seen.latencies.add(systemClock.monotonicMs() - sendTimeMs(bytes, end));
  }

  /** The same of a frame that had to wait for others, so that its own latency says nothing. */
  count(bytes: Buffer, end: number): void {
    const number = frameNumber(bytes, end);
    this.#note((number - this.#next + FRAME_NUMBERS) % FRAME_NUMBERS);
    this.#next = (number + 1) % FRAME_NUMBERS;
  }

  /** A frame is there whose stamp lies in two packets. */
  countUnread(): void {
    if (this.#next < 0) return;
    this.#note(0);
    this.#next = (this.#next + 1) % FRAME_NUMBERS;
  }

  #note(missing: number): void {
    if (this.#next < 0) {
      this.#seen.firstPictures.add(systemClock.monotonicMs() - this.#startMs);
      this.#onFirst();
    }
    if (!this.#seen.isMeasuring) return;
    this.#seen.frames += 1;
    // A number that goes back is that of a camera's new session.
    if (this.#next >= 0 && missing < FRAME_NUMBERS / 2) this.#seen.lostFrames += missing;
  }
}
