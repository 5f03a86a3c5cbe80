import type { AudioStream, StreamFrame, VideoStream } from '../elementary-stream.js';

/** The position in one stream, which starts over at its end while time goes on. */
export class Playhead<Stream extends VideoStream | AudioStream> {
  #stream: Stream;
  #index = 0;
  /** Where the stream's own zero is on the camera's axis. */
  #zeroTicks: number;
  readonly #isLooped: boolean;

  constructor(stream: Stream, startTicks: number, isLooped: boolean) {
    this.#stream = stream;
    this.#zeroTicks = startTicks;
    this.#isLooped = isLooped;
  }

  get stream(): Stream {
    return this.#stream;
  }

  /** The next frame, or null at the end of a stream that isn't looped. */
  get frame(): StreamFrame | null {
    return this.#stream.frames[this.#index] ?? null;
  }

  get ticks(): number {
    return this.#zeroTicks + (this.frame?.ptsTicks ?? this.#stream.durationTicks);
  }

  /** When the next frame is to be sent, on the camera's axis. */
  get dueMs(): number {
    const ticks = this.#zeroTicks + (this.frame?.dtsTicks ?? this.#stream.durationTicks);
    return (ticks * 1000) / this.#stream.clockRateHz;
  }

  advance(): void {
    this.#index += 1;
    if (this.#index < this.#stream.frames.length || !this.#isLooped) return;
    this.#index = 0;
    this.#zeroTicks += this.#stream.durationTicks;
  }

  /** Lets media time pass without frames. */
  skipMs(durationMs: number): void {
    this.#zeroTicks += Math.round((durationMs * this.#stream.clockRateHz) / 1000);
  }

  /** Goes on with another stream from its first frame. */
  replace(stream: Stream): void {
    const nextTicks = this.#zeroTicks + (this.frame?.dtsTicks ?? this.#stream.durationTicks);
    this.#stream = stream;
    this.#index = 0;
    this.#zeroTicks = nextTicks;
  }
}
