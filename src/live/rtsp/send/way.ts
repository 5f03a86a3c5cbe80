import type { PacketBatch, Track } from '../packets/packet-batch.js';

/** How packets reach one viewer. What is given to it is held for as long as it waits. */
export type Way = {
  /** Whether the viewer has set up the batch's track. */
  carries(track: Track): boolean;
  send(batch: PacketBatch, nowMs: number): void;
  /** RTCP of one track. */
  report(track: Track, packet: Buffer): void;
  /** What waits in our own memory. */
  readonly pendingBytes: number;
  /** How long the oldest of it has been waiting. */
  lagMs(nowMs: number): number;
  /** What waits is given up. */
  close(): void;
};
