import { serviceNowMs } from '../../data/service-clock.js';
import { ByteCache } from './byte-cache.js';
import { bytesOf, type Gop, startUs } from './gop.js';

const MAX_BYTES = 64 << 20;
/** What was recorded a moment ago may be read a little later: no answer says that a keyframe was the newest then. */
const SETTLED_MS = 30_000;

type KeyFrame = {
  readonly camera: string;
  readonly gop: Gop;
  readonly fromMs: number;
  /** Until when it was the newest one, as far as it was asked. */
  readonly toMs: number;
};

/** Keyframes that were looked at, of all cameras together. */
export class KeyCache {
  readonly #kept = new ByteCache<KeyFrame>(MAX_BYTES);

  /** The keyframe at or before a moment, where that is known. */
  find(camera: string, timeMs: number): Gop | undefined {
    return this.#kept.find((key) => key.camera === camera && key.fromMs <= timeMs && timeMs <= key.toMs)?.gop;
  }

  /** It is what was answered for a moment. */
  keep(camera: string, timeMs: number, gop: Gop): void {
    if (timeMs > serviceNowMs() - SETTLED_MS) return;
    const fromMs = startUs(gop) / 1000;
    const name = `${camera} ${fromMs}`;
    const toMs = Math.max(timeMs, this.#kept.get(name)?.toMs ?? timeMs);
    this.#kept.set(name, { camera, gop, fromMs, toMs }, bytesOf(gop));
  }
}
