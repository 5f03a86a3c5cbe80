import { INTERLEAVING_BYTES, nextPacket, type PacketBatch, type Track } from '../packets/packet-batch.js';
import type { UdpPacer } from './udp-pacer.js';
import type { UdpPair } from './udp-ports.js';
import type { Way } from './way.js';

/** Of each track that was set up, the ports that the viewer listens on. */
export type ClientPorts = Readonly<Partial<Record<Track, { readonly rtp: number; readonly rtcp: number }>>>;

type Queued = { readonly batch: PacketBatch; readonly sinceMs: number };

/** Datagrams to a viewer's own address, a few at a time: a keyframe at once overflows the buffer of its socket. */
export class UdpWay implements Way {
  readonly #address: string;
  readonly #ports: ClientPorts;
  readonly #pair: UdpPair;
  readonly #pacer: UdpPacer;
  readonly #queue: Queued[] = [];
  /** Where the next packet of the first batch begins. */
  #at = 0;
  #pendingBytes = 0;

  constructor(address: string, ports: ClientPorts, pair: UdpPair, pacer: UdpPacer) {
    this.#address = address;
    this.#ports = ports;
    this.#pair = pair;
    this.#pacer = pacer;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  carries(track: Track): boolean {
    return this.#ports[track] !== undefined;
  }

  send(batch: PacketBatch, nowMs: number): void {
    batch.hold();
    this.#queue.push({ batch, sinceMs: nowMs });
    this.#pendingBytes += batch.bytes.length;
    this.#pacer.wake(this);
  }

  /** Sends up to so many packets that wait. False: nothing waits any more. */
  flush(packets: number): boolean {
    for (let left = packets; left > 0; left -= 1) {
      const first = this.#queue[0];
      if (first === undefined) return false;
      const { batch } = first;
      const { bytes, track } = batch;
      const end = nextPacket(bytes, this.#at);
      const start = this.#at + INTERLEAVING_BYTES;
      const port = this.#ports[track]?.rtp;
      if (port !== undefined) {
        batch.hold();
        // A datagram that the system refuses is a lost one, as below.
        this.#pair.rtp.send(bytes, start, end - start, port, this.#address, batch.release);
      }
      this.#pendingBytes -= end - this.#at;
      this.#at = end;
      if (end < bytes.length) continue;
      this.#queue.shift();
      batch.release();
      this.#at = 0;
    }
    return this.#queue.length > 0;
  }

  report(track: Track, packet: Buffer): void {
    const port = this.#ports[track]?.rtcp;
    if (port !== undefined) this.#pair.rtcp.send(packet, port, this.#address, ignoreFault);
  }

  lagMs(nowMs: number): number {
    return this.#queue[0] === undefined ? 0 : nowMs - this.#queue[0].sinceMs;
  }

  close(): void {
    for (const { batch } of this.#queue) batch.release();
    this.#queue.length = 0;
    this.#at = 0;
    this.#pendingBytes = 0;
  }
}

/** A datagram that the system refuses is a lost one: the viewer's reports and requests tell whether it is there. */
const ignoreFault = (): void => {};
