import { Agent, get } from 'node:http';
import { Latencies, type LatencySummary } from '../latencies.js';

export type ApiFigures = LatencySummary & { readonly failed: number };

/** Asks for the list of cameras at an even pace, over one connection, whether or not the last answer is there. */
export class ApiPoller {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #latencies = new Latencies();
  readonly #timer: NodeJS.Timeout;
  #failed = 0;

  constructor(url: string, headers: Readonly<Record<string, string>>, timesPerSecond: number) {
    this.#timer = setInterval(() => this.#ask(url, headers), 1_000 / timesPerSecond);
  }

  begin(): void {
    this.#latencies.clear();
    this.#failed = 0;
  }

  get figures(): ApiFigures {
    return { ...this.#latencies.summary(), failed: this.#failed };
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#agent.destroy();
  }

  #ask(url: string, headers: Readonly<Record<string, string>>): void {
    const startMs = performance.now();
    const fail = (): void => {
      this.#failed += 1;
    };
    get(url, { agent: this.#agent, headers: { ...headers } }, (response) => {
      response.once('error', fail);
      response.once('end', () => {
        if (response.statusCode === 200) this.#latencies.add(performance.now() - startMs);
        else fail();
      });
      response.resume();
    }).once('error', fail);
  }
}
