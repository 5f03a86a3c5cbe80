import type { Clock, Timer } from '../base/clock.js';
import type { MediaDescription } from './sdp-media.js';

type Kind = MediaDescription['kind'];

/**
 * The tracks of which nothing has come yet (quirk 25): UDP may be blocked for one of them alone. A sound may be
 * silent of itself; that its reports come shows that its way is open. A video that only reports is blocked.
 */
export class SilentTracks {
  readonly #clock: Clock;
  readonly #kinds = new Map<number, Kind>();
  #timer: Timer | null = null;
  #resolve: ((kinds: ReadonlySet<Kind>) => void) | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** This track is to be heard. */
  expect(trackIndex: number, kind: Kind): void {
    this.#kinds.set(trackIndex, kind);
  }

  /** Nothing is expected any more. */
  clear(): void {
    this.#kinds.clear();
  }

  /** Called for every packet. */
  onRtp(trackIndex: number): void {
    if (this.#kinds.size > 0) this.#hear(trackIndex);
  }

  onRtcp(trackIndex: number): void {
    if (this.#kinds.size > 0 && this.#kinds.get(trackIndex) !== 'video') this.#hear(trackIndex);
  }

  /** Resolves with the kinds of what is silent: when nothing is, after `timeoutMs`, or at `endWait`. */
  wait(timeoutMs: number): Promise<ReadonlySet<Kind>> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#kinds.size === 0) this.endWait();
      else this.#timer = this.#clock.after(timeoutMs, () => this.endWait());
    });
  }

  endWait(): void {
    this.#timer?.cancel();
    this.#resolve?.(new Set(this.#kinds.values()));
    this.#resolve = null;
  }

  #hear(trackIndex: number): void {
    this.#kinds.delete(trackIndex);
    if (this.#kinds.size === 0) this.endWait();
  }
}
