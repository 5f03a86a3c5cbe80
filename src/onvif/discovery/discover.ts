import { randomUUID } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { onvifError } from '../errors.js';
import { type FoundDevice, PROBED_TYPES, probeMessage, readReply } from './messages.js';

/** One of this machine's networks. */
export type Network = { readonly name: string; readonly address: string };

export type Discovered = {
  /** Where it was asked. */
  readonly interfaces: readonly (Network & { readonly error: string })[];
  readonly devices: readonly FoundDevice[];
};

/** WS-Discovery §2.4. */
const GROUP = '239.255.255.250';
const PORT = 3_702;
/** Datagrams get lost, and devices that all answer at once lose more of them (SOAP-over-UDP appendix I). */
const ASKED_AT_MS = [0, 400, 1_200] as const;
const MAX_DEVICES = 1_000;
/** Of one network and search: a flood is not read to its end. */
const MAX_REPLIES = 5_000;
/** And of one sender, so that none hides the others. */
const MAX_REPLIES_OF_ONE = 64;
const MAX_DEVICES_OF_ONE = 64;

/** This machine's IPv4 networks, the one of its own, `lo`, only where it is asked for by name. */
const ownNetworks = (): (Network & { readonly isInternal: boolean })[] =>
  Object.entries(networkInterfaces()).flatMap(([name, addresses = []]) =>
    addresses
      .filter(({ family }) => family === 'IPv4')
      .map(({ address, internal }) => ({ name, address, isInternal: internal })),
  );

/** `all`, or names and addresses with commas between them. Throws `bad_address`. */
export const networksOf = (wanted: string): Network[] => {
  const own = ownNetworks();
  const chosen = wanted.split(',').map((word) => word.trim());
  const unknown = chosen.find(
    (word) => word !== 'all' && !own.some(({ name, address }) => name === word || address === word),
  );
  if (unknown !== undefined)
    throw onvifError(
      'bad_address',
      `there is no such interface: this machine has ${own.map(({ name, address }) => `${name} (${address})`).join(', ')}`,
    );
  return own
    .filter(
      ({ name, address, isInternal }) =>
        chosen.includes(name) || chosen.includes(address) || (chosen.includes('all') && !isInternal),
    )
    .map(({ name, address }) => ({ name, address }));
};

class Search {
  readonly #found: Map<string, FoundDevice>;
  readonly #repliesOf = new Map<string, number>();
  readonly #devicesOf = new Map<string, number>();
  #replies = 0;

  constructor(found: Map<string, FoundDevice>) {
    this.#found = found;
  }

  take(bytes: Buffer, sender: string): void {
    const before = this.#repliesOf.get(sender) ?? 0;
    if (this.#replies >= MAX_REPLIES || before >= MAX_REPLIES_OF_ONE) return;
    this.#replies += 1;
    this.#repliesOf.set(sender, before + 1);
    for (const device of readReply(bytes, sender)) {
      // Cheap devices share an endpoint, and whoever likes can tell another's: it is one only from one host.
      const key = `${device.host} ${device.endpoint}`;
      const own = this.#devicesOf.get(sender) ?? 0;
      if (this.#found.has(key) || this.#found.size >= MAX_DEVICES || own >= MAX_DEVICES_OF_ONE) continue;
      this.#devicesOf.set(sender, own + 1);
      this.#found.set(key, device);
    }
  }
}

const bound = (socket: Socket, address: string): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once('error', reject);
    socket.bind({ address, port: 0 }, () => {
      socket.off('error', reject);
      resolve();
    });
  });

/** Asks one network for as long as that; answers why it couldn't, or "". */
const searchOne = async (
  { address }: Network,
  durationMs: number,
  found: Map<string, FoundDevice>,
  { clock, signal }: { clock: Pick<Clock, 'after'>; signal: AbortSignal | undefined },
): Promise<string> => {
  const socket = createSocket({ type: 'udp4' });
  const search = new Search(found);
  let error = '';
  try {
    await bound(socket, address);
    socket.on('error', (fault) => {
      error = messageOf(fault);
    });
    socket.on('message', (bytes, { address: sender }) => search.take(bytes, sender));
    socket.setMulticastInterface(address);
    socket.setMulticastTTL(1);
    socket.setMulticastLoopback(true);
    const ask = (): void => {
      for (const types of PROBED_TYPES)
        socket.send(probeMessage(randomUUID(), types), PORT, GROUP, (fault) => {
          if (fault !== null) error = messageOf(fault);
        });
    };
    const timers = ASKED_AT_MS.filter((atMs) => atMs < durationMs).map((atMs) => clock.after(atMs, ask));
    await new Promise<void>((resolve) => {
      timers.push(clock.after(durationMs, resolve));
      signal?.addEventListener('abort', () => resolve(), { once: true });
      // It may have been so before the socket was there.
      if (signal?.aborted === true) resolve();
    });
    for (const timer of timers) timer.cancel();
  } catch (fault) {
    error = messageOf(fault);
  }
  socket.close();
  return error;
};

/** Asks all of these networks at once which devices they have. */
export const discover = async (
  networks: readonly Network[],
  durationMs: number,
  deps: { readonly clock: Pick<Clock, 'after'>; readonly signal?: AbortSignal },
): Promise<Discovered> => {
  const found = new Map<string, FoundDevice>();
  const { clock, signal } = deps;
  const errors = await Promise.all(
    networks.map((network) => searchOne(network, durationMs, found, { clock, signal })),
  );
  const collator = new Intl.Collator('en', { numeric: true });
  return {
    interfaces: networks.map((network, index) => ({ ...network, error: errors[index] ?? '' })),
    devices: [...found.values()].sort((a, b) => collator.compare(a.host, b.host)),
  };
};
