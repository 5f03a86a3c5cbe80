import { FramesFault } from './frames-fault.js';
import { requestFrames, type TokenSource } from './frames-request.js';
import { type Gop, GopCollector, startUs } from './gop.js';
import { KeyCache } from './key-cache.js';

const MAX_IN_FLIGHT = 2;

const cache = new KeyCache();

/** Brings a keyframe to the screen, unless by then another one is there that was asked for later. */
export type ShowKey = (gop: Gop, isWanted: () => boolean, signal: AbortSignal) => Promise<void>;

/** While somebody drags through time: the keyframe at or before each moment, as fast as they come. */
export class KeyScrub {
  readonly #camera: string;
  readonly #token: TokenSource;
  readonly #show: ShowKey;
  readonly #abort = new AbortController();
  #pendingMs: number | null = null;
  #inFlight = 0;
  #asked = 0;
  #shownAsk = 0;
  #shownMs: number | null = null;

  constructor(camera: string, token: TokenSource, show: ShowKey) {
    this.#camera = camera;
    this.#token = token;
    this.#show = show;
  }

  /** Of the moments that were not begun the newest wins. */
  to(timeMs: number): void {
    this.#pendingMs = timeMs;
    this.#next();
  }

  close(): void {
    this.#abort.abort();
  }

  #next(): void {
    const timeMs = this.#pendingMs;
    if (timeMs === null || this.#inFlight >= MAX_IN_FLIGHT || this.#abort.signal.aborted) return;
    this.#pendingMs = null;
    this.#asked += 1;
    this.#inFlight += 1;
    this.#load(timeMs, this.#asked)
      .catch(() => {
        // A gap, or nobody answers: the next moment may have something.
      })
      .finally(() => {
        this.#inFlight -= 1;
        this.#next();
      });
  }

  async #load(timeMs: number, ask: number): Promise<void> {
    const found = await this.#find(timeMs);
    if (found === null || ask < this.#shownAsk) return;
    this.#shownAsk = ask;
    const wallMs = startUs(found) / 1000;
    if (wallMs === this.#shownMs) return;
    const isWanted = (): boolean => ask >= this.#shownAsk && !this.#abort.signal.aborted;
    await this.#show(found, isWanted, this.#abort.signal);
    if (isWanted()) this.#shownMs = wallMs;
  }

  async #find(timeMs: number): Promise<Gop | null> {
    const camera = this.#camera;
    const known = cache.find(camera, timeMs);
    if (known !== undefined) return known;
    const collector = new GopCollector();
    let isGap = false;
    try {
      const wanted = { atMs: timeMs, isKeysOnly: true };
      for await (const message of requestFrames(camera, wanted, this.#token, this.#abort.signal)) {
        if (message.kind === 'gap') isGap = message.toUs / 1000 > timeMs;
        collector.add(message);
      }
    } catch (fault) {
      if (fault instanceof FramesFault) return null;
      throw fault;
    }
    const gop = collector.gops.at(-1);
    if (gop === undefined || isGap) return null;
    cache.keep(camera, timeMs, gop);
    return gop;
  }
}
