import type { AudioSink } from '../codec/frame-sink.js';
import type { Depacketizer, DepacketizerCounters } from './depacketizer.js';
import type { RtpPacket } from './packet.js';

/** Opus (RFC 7587 §4.2), G.711 and L16 (RFC 3551 §4.5.14, §4.5.11): a packet's payload is a frame as it stands. */
export class AudioFrameDepacketizer implements Depacketizer {
  readonly counters: Readonly<DepacketizerCounters> = {
    damagedFrames: 0,
    malformedPackets: 0,
    oversizedFrames: 0,
  };
  readonly #sink: AudioSink;

  constructor(sink: AudioSink) {
    this.#sink = sink;
  }

  push(packet: RtpPacket): void {
    if (packet.payloadStart === packet.payloadEnd) return;
    this.#sink.frame(packet.buffer, packet.payloadStart, packet.payloadEnd, packet.timestamp);
  }

  reset(): void {
    // Nothing is ever half-assembled.
  }
}
