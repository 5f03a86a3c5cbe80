import type { Clock } from '../base/clock.js';
import { Turns } from '../base/turns.js';
import { type Discovered, discover, networksOf } from './discovery/discover.js';
import { onvifError } from './errors.js';
import { type ProbedDevice, type ProbeInput, probeDevice } from './probe.js';

const PROBES_AT_ONCE = 4;
const SEARCHES_AT_ONCE = 2;

const busy = (): Error => onvifError('onvif_busy', 'many devices are being asked already; try again soon');

const turnsOf = (atOnce: number, clock: Clock): Turns =>
  new Turns({ atOnce, maxWaiting: 0, maxInLane: 0, patienceMs: 0 }, { clock, busy });

/** Devices that nobody configured yet: searched for, and asked what they are. A few at a time. */
export class OnvifQuestions {
  readonly #clock: Clock;
  readonly #ownEndpoint: string | null;
  readonly #probes: Turns;
  readonly #searches: Turns;

  /** `ownEndpoint`: what this service itself is called as a device. */
  constructor({
    clock,
    ownEndpoint = null,
  }: { readonly clock: Clock; readonly ownEndpoint?: string | null }) {
    this.#clock = clock;
    this.#ownEndpoint = ownEndpoint;
    this.#probes = turnsOf(PROBES_AT_ONCE, clock);
    this.#searches = turnsOf(SEARCHES_AT_ONCE, clock);
  }

  /** Throws what `errors.ts` lists. */
  probe(input: ProbeInput, signal: AbortSignal): Promise<ProbedDevice> {
    return this.#probes.run('', () => probeDevice(input, { clock: this.#clock, signal }), signal);
  }

  /** `interfaces`: `all`, or names and addresses of this machine's, with commas between. Throws `bad_address`, `onvif_busy`. */
  discover(interfaces: string, seconds: number, signal: AbortSignal): Promise<Discovered> {
    const networks = networksOf(interfaces);
    const search = async () => {
      const found = await discover(networks, seconds * 1_000, { clock: this.#clock, signal });
      return { ...found, devices: found.devices.filter(({ endpoint }) => endpoint !== this.#ownEndpoint) };
    };
    return this.#searches.run('', search, signal);
  }
}
