import type { Socket } from 'node:net';
import { INTERLEAVING_BYTES, type PacketBatch, type Track } from '../packets/packet-batch.js';
import { Backlog } from './backlog.js';
import type { Way } from './way.js';

/** Of each track that was set up, the channel of its RTP; RTCP has another. */
export type Channels = Readonly<Partial<Record<Track, { readonly rtp: number; readonly rtcp: number }>>>;

/** Packets between the answers of the viewer's own connection (RFC 2326 §10.12). */
export class TcpWay implements Way {
  readonly #socket: Socket;
  readonly #channels: Channels;
  readonly #backlog = new Backlog();

  constructor(socket: Socket, channels: Channels) {
    this.#socket = socket;
    this.#channels = channels;
  }

  get pendingBytes(): number {
    return this.#socket.writableLength;
  }

  carries(track: Track): boolean {
    return this.#channels[track] !== undefined;
  }

  send(batch: PacketBatch, nowMs: number): void {
    const channel = this.#channels[batch.track]?.rtp;
    if (channel === undefined || !this.#socket.writable) return;
    const bytes = batch.onChannel(channel);
    batch.hold();
    this.#socket.write(bytes, batch.release);
    this.#backlog.wrote(bytes.length, this.pendingBytes, nowMs);
  }

  report(track: Track, packet: Buffer): void {
    const channel = this.#channels[track]?.rtcp;
    if (channel === undefined || !this.#socket.writable) return;
    const head = Buffer.from([0x24, channel, 0, 0]);
    head.writeUInt16BE(packet.length, INTERLEAVING_BYTES - 2);
    this.#socket.write(Buffer.concat([head, packet]));
  }

  lagMs(nowMs: number): number {
    return this.#backlog.lagMs(this.pendingBytes, nowMs);
  }

  close(): void {
    // The connection outlives it: the viewer may pause, and play again.
  }
}
