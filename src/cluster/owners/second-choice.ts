import type { Clock } from '../../base/clock.js';
import { GIVE_UP_MS, STAND_IN_MS } from './verdict.js';

/** A camera that nobody has is left to each box that is before this one for so long. */
const UNTAKEN_MS = 5_000;
/** One that doesn't work where it is: to each for so long as it tries, and says how that went. */
const TRY_MS = GIVE_UP_MS + 15_000;
/** When all have tried, they try again after so long; twice as long after each time. */
const ROUND_MS = 10 * 60_000;
const LONGEST_ROUND_MS = 60 * 60_000;
/** Of one that is silent where it is: a moment, as others may be about to say the same; and to each so long as it tries. */
const SURE_MS = 200;

type Lack = {
  /** Since when nobody has it though this box may take it; null: it isn't so. */
  untakenMs: number | null;
  /** Since when it is silent where it is; null: it isn't that. */
  silentMs: number | null;
  /** Since when, or from when on, the boxes try one after the other; null: they need not. */
  roundMs: number | null;
  rounds: number;
};

/**
 * Cameras that are recorded by nobody, though a box is here that they are of: the others take them, or try to, one after the
 * other. Each goes by its own clock and by how many are before it in the hash's order: nobody tells whose turn it is. A camera
 * that is off is tried by each once in a while.
 */
export class SecondChoice {
  readonly #clock: Clock;
  readonly #lacks = new Map<string, Lack>();
  #isPressing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether any camera is recorded by nobody. */
  get isNeeded(): boolean {
    return this.#lacks.size > 0;
  }

  /** Whether something is to be looked at anew right after the last look. */
  takePressing(): boolean {
    const isPressing = this.#isPressing;
    this.#isPressing = false;
    return isPressing;
  }

  /** Of cameras that nobody has, and that this box may take. `place`: how many are before it. */
  mayTake(cameraId: string, place: number): boolean {
    const lack = this.#lackOf(cameraId);
    lack.untakenMs ??= this.#clock.monotonicMs();
    return this.#clock.monotonicMs() - lack.untakenMs >= place * UNTAKEN_MS;
  }

  /**
   * Somebody has it, or this box may take none: until it may, the others were left no time. When a majority is back all of them
   * would take it at once.
   */
  notToTake(cameraId: string): void {
    const lack = this.#lacks.get(cameraId);
    if (lack !== undefined) lack.untakenMs = null;
  }

  /** Of cameras that are silent where they are. `placeOf` is only asked where it matters; null: this box takes none. */
  mayStandIn(cameraId: string, placeOf: () => number | null): boolean {
    const lack = this.#lackOf(cameraId);
    lack.silentMs ??= this.#clock.monotonicMs();
    const silentMs = this.#clock.monotonicMs() - lack.silentMs;
    this.#isPressing ||= silentMs < SURE_MS;
    if (silentMs < SURE_MS) return false;
    const place = placeOf();
    return place !== null && silentMs >= SURE_MS + place * STAND_IN_MS;
  }

  /** Nobody says that it is silent: when somebody does again, each box waits for those before it again. */
  notSilent(cameraId: string): void {
    const lack = this.#lacks.get(cameraId);
    if (lack !== undefined) lack.silentMs = null;
  }

  /** Of cameras that don't work where they are. `placeOf` is only asked where it matters; null: this box takes none. */
  mayTry(cameraId: string, placeOf: () => number | null): boolean {
    const nowMs = this.#clock.monotonicMs();
    const lack = this.#lackOf(cameraId);
    lack.roundMs ??= nowMs;
    if (nowMs < lack.roundMs) return false;
    const place = placeOf();
    if (place === null) return false;
    const beforeMs = place * TRY_MS;
    if (nowMs < lack.roundMs + beforeMs) return false;
    lack.roundMs = nowMs - beforeMs;
    return true;
  }

  /** It was tried, and doesn't work here. */
  failed(cameraId: string): void {
    const lack = this.#lackOf(cameraId);
    lack.roundMs =
      (lack.roundMs ?? this.#clock.monotonicMs()) + Math.min(ROUND_MS * 2 ** lack.rounds, LONGEST_ROUND_MS);
    lack.rounds = Math.min(lack.rounds + 1, 8);
  }

  /** Somebody records it. */
  recorded(cameraId: string): void {
    this.#lacks.delete(cameraId);
  }

  keepOnly(cameraIds: ReadonlySet<string>): void {
    for (const id of this.#lacks.keys()) if (!cameraIds.has(id)) this.#lacks.delete(id);
  }

  #lackOf(cameraId: string): Lack {
    const known = this.#lacks.get(cameraId);
    if (known !== undefined) return known;
    const lack: Lack = { untakenMs: null, silentMs: null, roundMs: null, rounds: 0 };
    this.#lacks.set(cameraId, lack);
    return lack;
  }
}
