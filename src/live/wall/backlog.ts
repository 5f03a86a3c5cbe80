/** Sendings of this time count as one: so exactly a page's lag is known. */
const STEP_MS = 50;
/** From this age on what wasn't taken is waiting, and how fast it is taken is how fast the page can. */
const WAITING_MS = 500;
/** Over so much time it is measured how fast a page takes. */
const RATE_MS = 1_000;
const MIN_RATE_MS = 250;

type Step = { readonly ms: number; messages: number };
type Taking = { readonly ms: number; readonly bytes: number };

/**
 * What a page was sent and has not taken, by what it says of itself: browsers answer pings even when the page hangs.
 * Counts are those of binary messages and their bytes, since the socket opened, modulo 2^32 on the wire.
 */
export class Backlog {
  #sentMessages = 0;
  #sentBytes = 0;
  #takenMessages = 0;
  #takenBytes = 0;
  /** When which messages were sent, of those that weren't taken. */
  readonly #steps: Step[] = [];
  readonly #takings: Taking[] = [];

  get bytes(): number {
    return this.#sentBytes - this.#takenBytes;
  }

  sent(bytes: number, nowMs: number): void {
    this.#sentMessages += 1;
    this.#sentBytes += bytes;
    const last = this.#steps.at(-1);
    if (last !== undefined && nowMs - last.ms < STEP_MS) last.messages = this.#sentMessages;
    else this.#steps.push({ ms: nowMs, messages: this.#sentMessages });
  }

  /** The page has taken so much. False: that can't be, and counts for nothing. */
  taken(messages: number, bytes: number, nowMs: number): boolean {
    const moreMessages = (messages - this.#takenMessages) >>> 0;
    const moreBytes = (bytes - this.#takenBytes) >>> 0;
    if (moreMessages > this.#sentMessages - this.#takenMessages || moreBytes > this.bytes) return false;
    this.#takenMessages += moreMessages;
    this.#takenBytes += moreBytes;
    while (this.#steps.length > 0 && this.#steps[0]!.messages <= this.#takenMessages) this.#steps.shift();
    this.#takings.push({ ms: nowMs, bytes: this.#takenBytes });
    while (this.#takings.length > 2 && nowMs - this.#takings[1]!.ms > RATE_MS) this.#takings.shift();
    return true;
  }

  /** How long the oldest message that wasn't taken has been waiting; 0: there is none. */
  ageMs(nowMs: number): number {
    const first = this.#steps[0];
    return first === undefined ? 0 : nowMs - first.ms;
  }

  /** How late a message that is sent now will be taken: of a page that takes half, later than the oldest one is now. */
  lagMs(nowMs: number): number {
    const ageMs = this.ageMs(nowMs);
    return ageMs < WAITING_MS ? ageMs : Math.max(ageMs, this.#drainMs());
  }

  #drainMs(): number {
    const [first, last] = [this.#takings[0], this.#takings.at(-1)];
    if (first === undefined || last === undefined || last.ms - first.ms < MIN_RATE_MS) return 0;
    const bytesPerMs = (last.bytes - first.bytes) / (last.ms - first.ms);
    return this.bytes === 0 ? 0 : this.bytes / bytesPerMs;
  }
}
