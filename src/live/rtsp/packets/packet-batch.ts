import type { Slab } from './slab.js';

/** `$`, channel, length (RFC 2326 §10.12). */
export const INTERLEAVING_BYTES = 4;

export const tracks = ['video', 'audio', 'metadata'] as const;

export type Track = (typeof tracks)[number];

/** Channels of the packets as they are made; most players ask for just these. */
export const DEFAULT_CHANNEL = { video: 0, audio: 2, metadata: 4 } as const;

/** All packets of one frame in one piece of memory, each behind its interleaving header: made once for all viewers. */
export class PacketBatch {
  readonly track: Track;
  /** Decoding can begin here. */
  readonly isKey: boolean;
  /** The decode time of the newest video frame. */
  readonly dueTicks: number;
  /** The video frames of the stream before this batch. */
  readonly videoNumber: number;
  /** Good for as long as somebody holds it. */
  readonly bytes: Buffer;
  readonly slab: Slab;
  /** Lets go of it; as a value of its own, since each write calls it when it is through. */
  readonly release = (): void => this.slab.release();
  /** The same on other channels, for viewers that asked for them. */
  #onOthers: Map<number, Buffer> | null = null;

  constructor(batch: Pick<PacketBatch, 'track' | 'isKey' | 'dueTicks' | 'videoNumber' | 'bytes' | 'slab'>) {
    this.track = batch.track;
    this.isKey = batch.isKey;
    this.dueTicks = batch.dueTicks;
    this.videoNumber = batch.videoNumber;
    this.bytes = batch.bytes;
    this.slab = batch.slab;
  }

  hold(): void {
    this.slab.hold();
  }

  get firstSequence(): number {
    return this.bytes.readUInt16BE(INTERLEAVING_BYTES + 2);
  }

  get timestamp(): number {
    return this.bytes.readUInt32BE(INTERLEAVING_BYTES + 4);
  }

  /** The bytes for viewers of this channel. */
  onChannel(channel: number): Buffer {
    if (channel === DEFAULT_CHANNEL[this.track]) return this.bytes;
    this.#onOthers ??= new Map();
    const known = this.#onOthers.get(channel);
    if (known !== undefined) return known;
    const copy = Buffer.from(this.bytes);
    for (let at = 0; at < copy.length; at = nextPacket(copy, at)) copy[at + 1] = channel;
    this.#onOthers.set(channel, copy);
    return copy;
  }
}

/** Where the packet behind the one at `at` begins. */
export const nextPacket = (bytes: Buffer, at: number): number =>
  at + INTERLEAVING_BYTES + bytes.readUInt16BE(at + 2);
