import type { Clock, Timer } from '../../base/clock.js';

/** A TEARDOWN takes a second at most; a thread that hasn't told of its end by then hangs, or is gone. */
const DEPARTURE_MS = 2_000;

/** `timers`: one for each thread that has yet to tell. */
type Departure = { readonly timers: Timer[]; readonly waiting: (() => void)[] };

/**
 * Cameras whose last session may still be taking leave in a thread that they have left. Many cameras serve just one
 * session at a time: the next one waits for that, but not for ever.
 */
export class Departures {
  readonly #clock: Clock;
  readonly #byCamera = new Map<string, Departure>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The camera leaves a thread, which will tell when its session is over. */
  begin(cameraId: string): void {
    const departure = this.#byCamera.get(cameraId) ?? { timers: [], waiting: [] };
    departure.timers.push(this.#clock.after(DEPARTURE_MS, () => this.end(cameraId)));
    this.#byCamera.set(cameraId, departure);
  }

  /** A thread has told, or has had its time. */
  end(cameraId: string): void {
    const departure = this.#byCamera.get(cameraId);
    if (departure === undefined) return;
    departure.timers.shift()?.cancel();
    if (departure.timers.length > 0) return;
    this.#byCamera.delete(cameraId);
    for (const callback of departure.waiting) callback();
  }

  /** Calls back when nothing of the camera is left elsewhere: at once, as a rule. */
  whenGone(cameraId: string, callback: () => void): void {
    const departure = this.#byCamera.get(cameraId);
    if (departure === undefined) callback();
    else departure.waiting.push(callback);
  }
}
