import type { RtpPacket } from './packet.js';

/** Why a depacketizer threw bytes away; each is a counter, none is an exception. */
export type DepacketizerCounters = {
  /** Access units given up because a packet of theirs was lost or broken. */
  damagedFrames: number;
  /** Packets that say something the payload format doesn't allow. */
  malformedPackets: number;
  /** Access units given up because they outgrew the frame limit. */
  oversizedFrames: number;
};

/** Turns the payloads of one track into frames. Pushed packet by packet, in order; never throws on input. */
export interface Depacketizer {
  readonly counters: Readonly<DepacketizerCounters>;
  /** Takes the next packet in sequence order. `lostBefore`: packets missing right before it. */
  push(packet: RtpPacket, lostBefore: number): void;
  /** Forgets what is half-assembled: the session has ended or its clock jumped. */
  reset(): void;
}

/** A depacketizer that writes into a VideoSink. */
export interface VideoDepacketizer extends Depacketizer {
  /** Read by the sink during `commit`: something was lost between the frame before and this one. */
  readonly damagedSinceLastCommit: boolean;
}
