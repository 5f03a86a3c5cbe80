import { archiveViewings } from './archive.js';
import { hlsViewings } from './hls.js';
import { Visitor } from './visitor.js';
import { pause, type Viewing, type Wall } from './wall.js';
import { webSocketViewings } from './websocket.js';
import { whepViewings } from './whep.js';

const named = (prefix: string, viewings: Readonly<Record<string, Viewing>>) =>
  Object.entries(viewings).map(([name, viewing]) => ({ name: `${prefix} ${name}`, viewing }));

const allViewings = [
  ...named('WebSocket', webSocketViewings),
  ...named('HLS', hlsViewings),
  ...named('WHEP', whepViewings),
  ...named('archive', archiveViewings),
];

/** The viewings that leave nothing for the service to find out by waiting. */
const orderly: readonly Viewing[] = [
  webSocketViewings.watch,
  hlsViewings.play,
  hlsViewings.playParts,
  whepViewings.watch,
  archiveViewings.play,
  archiveViewings.download,
  archiveViewings.look,
];

/** More at once would measure the machine. */
const MAX_AT_ONCE = 100;

/** Visitors that come and go at an even pace, all kinds equally often. */
export class Crowd {
  readonly faults: string[] = [];
  /** How many visits of each kind are over. */
  readonly visits = new Map<string, number>();
  readonly #wall: Wall;
  readonly #present = new Set<Promise<void>>();

  constructor(wall: Wall) {
    this.#wall = wall;
  }

  get total(): number {
    return [...this.visits.values()].reduce((sum, count) => sum + count, 0);
  }

  /** One visit of each kind that ends in order; throws what any of them throws. */
  async first(): Promise<void> {
    for (const viewing of orderly) {
      using visitor = new Visitor(this.#wall);
      await viewing(this.#wall, visitor);
    }
  }

  /** Visitors come for so long, and until so many have come; resolves when the last one has gone. */
  async come(durationMs: number, perSecond: number, least: number): Promise<void> {
    const startMs = performance.now();
    for (let visit = 0; ; visit += 1) {
      const dueMs = startMs + (visit * 1_000) / perSecond;
      await pause(Math.max(0, dueMs - performance.now()));
      if (this.#present.size >= MAX_AT_ONCE) await Promise.race(this.#present);
      if (visit >= least && performance.now() - startMs >= durationMs) break;
      const { name, viewing } = allViewings[visit % allViewings.length]!;
      const present: Promise<void> = this.#visit(name, viewing).finally(() => this.#present.delete(present));
      this.#present.add(present);
    }
    await Promise.all(this.#present);
  }

  async #visit(name: string, viewing: Viewing): Promise<void> {
    using visitor = new Visitor(this.#wall);
    try {
      await viewing(this.#wall, visitor);
      this.visits.set(name, (this.visits.get(name) ?? 0) + 1);
    } catch (thrown) {
      this.faults.push(`${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }
}
