import type { OwnService } from '../box/own-service.js';
import { Child } from '../child.js';
import type { ViewerKind, ViewersQuestion, ViewersReport, ViewerTarget } from '../viewers/messages.js';

const PAUSE_MS = 1_000;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Viewers of one kind that come and go: never more than `most` of them. */
export class Visitors {
  /** Visits, and those that ended otherwise than by going. */
  visits = 0;
  faults = 0;
  viewers = 0;
  lastFault: string | null = null;
  readonly kind: ViewerKind;
  readonly #most: number;
  readonly #service: OwnService;
  readonly #process = new Child<ViewersQuestion, ViewersReport>(
    new URL('../viewers/main.js', import.meta.url),
  );
  #isOver = false;

  constructor(kind: ViewerKind, most: number, service: OwnService) {
    this.kind = kind;
    this.#most = most;
    this.#service = service;
  }

  /** Until `stop`. */
  async run(): Promise<void> {
    while (!this.#isOver) {
      const there = this.viewers;
      const isComing = there === 0 || (there < this.#most && Math.random() < 0.5);
      const count = 1 + Math.floor(Math.random() * (isComing ? this.#most - there : there));
      const report = isComing
        ? await this.#come(count)
        : await this.#process.ask({ type: 'leave', count: this.kind === 'wall' ? 1 : count });
      this.viewers = report.viewers;
      this.faults = report.faults.length;
      this.lastFault = report.faults.at(-1) ?? null;
      await sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  }

  stop(): void {
    this.#isOver = true;
  }

  end(): void {
    this.#process.end();
  }

  async #come(count: number): Promise<ViewersReport> {
    this.visits += count;
    const targets = await this.#targets(count);
    return this.#process.ask({ type: 'join', kind: this.kind, targets });
  }

  /** Of cameras by chance; a wall of that many tiles. */
  async #targets(count: number): Promise<readonly ViewerTarget[]> {
    if (this.kind === 'wall') return this.#service.targets('wall', count);
    const all = await this.#service.targets(this.kind, this.#service.cameras);
    return Array.from({ length: count }, () => all[Math.floor(Math.random() * all.length)]!);
  }
}
