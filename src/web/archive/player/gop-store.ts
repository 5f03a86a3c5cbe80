import { serviceNowMs } from '../../data/service-clock.js';
import { ByteCache } from './byte-cache.js';
import { FramesFault } from './frames-fault.js';
import { requestFrames, type TokenSource } from './frames-request.js';
import { bytesOf, type Gop, GopCollector, intervalUs, lastUs, startUs } from './gop.js';

const MAX_BYTES = 64 << 20;
/** What was recorded a moment ago may go on. */
const SETTLED_MS = 10_000;
/** Recordings with less than this between them follow one another. */
const HOLE_MS = 2_000;
const BESIDE_MS = 1_000;

type Kept = {
  readonly camera: string;
  readonly gop: Gop;
  readonly fromMs: number;
  readonly toMs: number;
};

/** Of all cameras together. */
const cache = new ByteCache<Kept>(MAX_BYTES);

/** GOPs of a camera as they were recorded: those that were looked at last stay. */
export class GopStore {
  readonly #camera: string;
  readonly #token: TokenSource;

  constructor(camera: string, token: TokenSource) {
    this.#camera = camera;
    this.#token = token;
  }

  /** The GOP in which a moment lies; null: nothing was recorded then. */
  async at(timeMs: number, signal: AbortSignal): Promise<Gop | null> {
    const known = this.#keptAt(timeMs);
    if (known !== undefined) return known.gop;
    const gops = await this.#ask(timeMs, timeMs + 1, signal);
    const found = gops.findLast((gop) => startUs(gop) / 1000 <= timeMs + 1) ?? gops[0];
    if (found !== undefined) return found;
    // Between two files a moment may be in neither: what was seen last is seen still.
    const before = await this.#ask(timeMs - HOLE_MS, timeMs, signal);
    return before.at(-1) ?? null;
  }

  async #ask(fromMs: number, toMs: number, signal: AbortSignal): Promise<readonly Gop[]> {
    const collector = new GopCollector();
    try {
      for await (const message of requestFrames(this.#camera, { fromMs, toMs }, this.#token, signal))
        collector.add(message);
    } catch (fault) {
      if (fault instanceof FramesFault && fault.kind === 'none') return [];
      throw fault;
    }
    for (const gop of collector.gops) this.#keep(gop);
    return collector.gops;
  }

  #keep(gop: Gop): void {
    const fromMs = startUs(gop) / 1000;
    const toMs = (lastUs(gop) + intervalUs(gop) * 0.9) / 1000;
    if (toMs > serviceNowMs() - SETTLED_MS) return;
    const camera = this.#camera;
    cache.set(`${camera} ${fromMs}`, { camera, gop, fromMs, toMs }, bytesOf(gop));
  }

  #keptAt(timeMs: number): Kept | undefined {
    return cache.find(
      ({ camera, fromMs, toMs }) => camera === this.#camera && fromMs <= timeMs && timeMs < toMs,
    );
  }

  /** The GOP behind one, if it follows at once. */
  async next(gop: Gop, signal: AbortSignal): Promise<Gop | null> {
    const besideMs = (lastUs(gop) + intervalUs(gop)) / 1000;
    const known = this.#keptAt(besideMs);
    if (known !== undefined && known.gop !== gop && startUs(known.gop) > startUs(gop)) return known.gop;
    const gops = await this.#ask(besideMs, besideMs + BESIDE_MS, signal);
    return gops.find((other) => startUs(other) > startUs(gop)) ?? null;
  }

  /** The GOP before one, if it precedes it at once. */
  async previous(gop: Gop, signal: AbortSignal): Promise<Gop | null> {
    const startMs = startUs(gop) / 1000;
    const besideMs = startMs - intervalUs(gop) / 2000;
    const known = this.#keptAt(besideMs);
    if (known !== undefined) return known.gop;
    const gops = await this.#ask(startMs - BESIDE_MS, startMs - 2, signal);
    return gops.findLast((other) => startUs(other) < startUs(gop)) ?? null;
  }
}
