import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import { BoundedProbe } from './bounded-probe.js';

/** What readiness depends on. */
export const components = ['database', 'archive', 'router'] as const;
export type Component = (typeof components)[number];

/** Looks at one component: "ok", or what is wrong in words that anybody may read. May take long, or throw. */
export type Check = () => Promise<string>;

/** The answer of `/livez`. */
export type Liveness = { readonly status: 'ok' };

/** The answer of `/readyz`. */
export type Readiness = {
  readonly status: 'ready' | 'not_ready';
  readonly checks: Readonly<Record<Component, string>>;
  /** Of what readiness doesn't depend on: "ok", or what is wrong. */
  readonly remarks?: Readonly<Record<string, string>>;
};

/** Shorter than the second that most orchestrators give a probe. */
const CHECK_TIMEOUT_MS = 800;

/** Liveness and readiness. Neither ever waits long, nor does asking often cost much. */
export class Health {
  readonly #probes: readonly { readonly component: Component; readonly probe: BoundedProbe<string> }[];

  readonly #remarks: () => Readonly<Record<string, string>> | null;

  constructor(
    checks: Readonly<Record<Component, Check>>,
    deps: { clock: Clock; remarks?: () => Readonly<Record<string, string>> | null },
  ) {
    this.#remarks = deps.remarks ?? (() => null);
    this.#probes = components.map((component) => ({
      component,
      probe: new BoundedProbe(
        { timeoutMs: CHECK_TIMEOUT_MS, late: 'does not answer' },
        { clock: deps.clock, probe: async () => checks[component]().catch(messageOf) },
      ),
    }));
  }

  /** That this runs at all is the whole answer: the event loop turns and takes requests. */
  live(): Liveness {
    return { status: 'ok' };
  }

  /** HTTP 200 for `ready`, 503 for `not_ready`. */
  async ready(): Promise<Readiness> {
    const results = await Promise.all(
      this.#probes.map(async ({ component, probe }) => [component, await probe.read()] as const),
    );
    const checks = Object.fromEntries(results) as Record<Component, string>;
    const isReady = results.every(([, result]) => result === 'ok');
    const remarks = this.#remarks();
    return { status: isReady ? 'ready' : 'not_ready', checks, ...(remarks === null ? {} : { remarks }) };
  }

  /** The same as the metrics want it. */
  async components(): Promise<Record<Component, boolean>> {
    const { checks } = await this.ready();
    return Object.fromEntries(
      components.map((component) => [component, checks[component] === 'ok']),
    ) as Record<Component, boolean>;
  }
}
