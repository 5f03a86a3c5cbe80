import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** A pair of UDP sockets that are next to each other, RTP's port even (RFC 3550 §11). */
export type UdpPair = {
  readonly rtp: Socket;
  readonly rtcp: Socket;
  readonly rtpPort: number;
};

/** Where a datagram of a viewer came from. */
export type RtcpListener = (packet: Buffer, address: string, port: number) => void;

const MAX_TRIES = 50;

/** Addresses here are never names: without this each datagram would wait a turn for a look-up. */
const lookup = (
  address: string,
  _options: unknown,
  callback: (fault: null, address: string, family: number) => void,
): void => callback(null, address, isIPv6(address) ? 6 : 4);

const bound = async (address: string, port: number): Promise<Socket> => {
  const socket = createSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', lookup });
  const listening = once(socket, 'listening');
  socket.bind({ address, port, exclusive: true });
  try {
    await listening;
  } catch (fault) {
    socket.close();
    throw fault;
  }
  // What a viewer's host answers to its packets, ICMP errors among them, is no fault of ours.
  socket.on('error', () => {});
  return socket;
};

const openPair = async (address: string, wantedPort: number): Promise<UdpPair> => {
  let fault: unknown;
  for (let attempt = 0; attempt < MAX_TRIES; attempt += 1) {
    let rtp: Socket | null = null;
    try {
      rtp = await bound(address, attempt === 0 ? wantedPort : 0);
      const rtpPort = rtp.address().port;
      if (rtpPort % 2 === 0) return { rtp, rtpPort, rtcp: await bound(address, rtpPort + 1) };
    } catch (thrown) {
      fault = thrown;
    }
    rtp?.close();
  }
  throw new Error('there is no free pair of UDP ports', { cause: fault });
};

/**
 * One pair of UDP ports for all viewers that came to one address of this machine: packets leave from the address that
 * the viewer knows, and where they go to tells viewers apart.
 */
export class UdpPorts {
  readonly #wantedPort: number;
  readonly #onRtcp: RtcpListener;
  readonly #pairs = new Map<string, Promise<UdpPair>>();

  /** `servicePort`: the TCP port of the listener; its number, made even, is tried first. */
  constructor(servicePort: number, onRtcp: RtcpListener) {
    this.#wantedPort = servicePort & ~1;
    this.#onRtcp = onRtcp;
  }

  /** Rejects where no two ports are free. */
  at(localAddress: string): Promise<UdpPair> {
    const known = this.#pairs.get(localAddress);
    if (known !== undefined) return known;
    const opening = this.#open(localAddress);
    this.#pairs.set(localAddress, opening);
    opening.catch(() => this.#pairs.delete(localAddress));
    return opening;
  }

  async close(): Promise<void> {
    const pairs = await Promise.allSettled(this.#pairs.values());
    this.#pairs.clear();
    for (const pair of pairs) {
      if (pair.status !== 'fulfilled') continue;
      pair.value.rtp.close();
      pair.value.rtcp.close();
    }
  }

  async #open(localAddress: string): Promise<UdpPair> {
    const pair = await openPair(localAddress, this.#wantedPort);
    pair.rtcp.on('message', (packet, { address, port }) => this.#onRtcp(packet, address, port));
    return pair;
  }
}
