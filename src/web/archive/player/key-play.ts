import { serviceNowMs } from '../../data/service-clock.js';
import { decodeFrames } from './decode-gop.js';
import { FramesFault } from './frames-fault.js';
import { requestFrames, type TokenSource } from './frames-request.js';
import { type Gop, GopCollector, startUs } from './gop.js';
import { persistently } from './persistently.js';
import { messageOf, type Playing, type RecordedTimes, type Shown } from './shown.js';

const PICTURES_A_SECOND = 8;
/** Of real time, asked for at once. */
const ASKED_SEC = 6;
const MAX_DECODED = 4;
const LOOK_AGAIN_MS = 700;

/** Keyframes alone, 8 a second, forwards or back: faster than all frames could be decoded. */
export class KeyPlay implements Playing {
  fault: string | null = null;
  retrying: string | null = null;
  readonly #camera: string;
  readonly #rate: number;
  readonly #token: TokenSource;
  readonly #times: RecordedTimes;
  readonly #abort = new AbortController();
  #decoded: Shown[] = [];
  #isAtEnd = false;
  #wake: () => void = () => {};

  constructor(camera: string, fromMs: number, rate: number, token: TokenSource, times: RecordedTimes) {
    this.#camera = camera;
    this.#rate = rate;
    this.#token = token;
    this.#times = times;
    this.#run(fromMs).catch((fault: unknown) => {
      if (!this.#abort.signal.aborted) this.fault = messageOf(fault);
    });
  }

  get #isBack(): boolean {
    return this.#rate < 0;
  }

  at(timeMs: number): Shown | null {
    const decoded = this.#decoded;
    const isOver = (): boolean =>
      this.#isBack
        ? decoded.length > 1 && decoded[0]!.wallMs > timeMs
        : decoded.length > 1 && decoded[1]!.wallMs <= timeMs;
    while (isOver()) decoded.shift()?.picture.close();
    this.#wake();
    return decoded[0] ?? null;
  }

  isReady(timeMs: number): boolean {
    const last = this.#decoded.at(-1);
    if (this.fault !== null || this.#isAtEnd) return true;
    return last !== undefined && (this.#isBack ? last.wallMs <= timeMs : last.wallMs >= timeMs);
  }

  close(): void {
    this.#abort.abort();
    this.#wake();
    for (const { picture } of this.#decoded) picture.close();
    this.#decoded = [];
  }

  async #run(fromMs: number): Promise<void> {
    const { signal } = this.#abort;
    const askedMs = ASKED_SEC * 1000 * Math.abs(this.#rate);
    let atMs = fromMs;
    let lastMs: number | null = null;
    while (!signal.aborted) {
      const nextMs = this.#isBack ? this.#times.before(atMs) : this.#times.after(atMs);
      this.#isAtEnd = nextMs === null;
      if (nextMs === null) {
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
        continue;
      }
      const range: [number, number] = this.#isBack
        ? [nextMs - askedMs, nextMs + 1]
        : [nextMs, nextMs + askedMs];
      const before: number | null = lastMs;
      for (const gop of await this.#askUntilAnswered(range)) {
        const wallMs = startUs(gop) / 1000;
        if (lastMs !== null && (this.#isBack ? wallMs >= lastMs : wallMs <= lastMs)) continue;
        lastMs = wallMs;
        await this.#show(gop);
        if (signal.aborted) return;
      }
      atMs = this.#isBack ? range[0] : Math.min(range[1], serviceNowMs());
      // What is recorded just now comes by and by: it isn't asked for all the time.
      if (lastMs === before && !this.#isBack)
        await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
    }
  }

  #askUntilAnswered(range: readonly [number, number]): Promise<Gop[]> {
    const tell = (why: string | null): void => {
      this.retrying = why;
    };
    return persistently(() => this.#ask(range), tell, this.#abort.signal);
  }

  async #ask([fromMs, toMs]: readonly [number, number]): Promise<Gop[]> {
    const everyMs = Math.max(1, (1000 / PICTURES_A_SECOND) * Math.abs(this.#rate));
    const collector = new GopCollector();
    try {
      const wanted = { fromMs, toMs, everyMs, isBack: this.#isBack };
      for await (const message of requestFrames(this.#camera, wanted, this.#token, this.#abort.signal))
        collector.add(message);
    } catch (fault) {
      if (!(fault instanceof FramesFault && fault.kind === 'none')) throw fault;
    }
    return collector.gops;
  }

  async #show(gop: Gop): Promise<void> {
    const { signal } = this.#abort;
    while (this.#decoded.length >= MAX_DECODED && !signal.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    const onPicture = (frame: VideoFrame, wallUs: number): void => {
      this.#decoded.push({ picture: frame, wallMs: wallUs / 1000 });
    };
    await decodeFrames(gop.config, gop.frames.slice(0, 1), onPicture, signal);
  }
}
