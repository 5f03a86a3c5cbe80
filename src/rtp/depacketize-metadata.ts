import type { Depacketizer, DepacketizerCounters } from './depacketizer.js';
import type { RtpPacket } from './packet.js';

/** Where whole documents go. */
export type DocumentSink = {
  /** In `bytes[0, end)`, during the call. */
  document(bytes: Buffer, end: number, rtpTimestamp: number): void;
};

const FIRST_BYTES = 4096;
/** Where a document's last tag is looked for. */
const TAIL_BYTES = 64;

const beginsDocument = (bytes: Buffer, start: number, end: number): boolean =>
  /^\ufeff?\s*<(?:\?xml\s|(?:[\w.-]+:)?MetadataStream[\s>])/.test(
    bytes.toString('utf8', start, Math.min(start + TAIL_BYTES, end)),
  );

const endsDocument = (bytes: Buffer, end: number): boolean =>
  /<\/(?:[\w.-]+:)?MetadataStream\s*>[\s\0]*$/.test(
    bytes.toString('latin1', Math.max(0, end - TAIL_BYTES), end),
  );

/**
 * ONVIF's metadata (Streaming §5.1.2): an XML document over several packets, the last one with the marker. Cameras that
 * forget that are understood by the documents themselves. What lacks a packet, or outgrows its bound, is given up.
 */
export class MetadataDepacketizer implements Depacketizer {
  readonly counters: DepacketizerCounters = { damagedFrames: 0, malformedPackets: 0, oversizedFrames: 0 };
  readonly #maxBytes: number;
  readonly #sink: DocumentSink;
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #timestamp = 0;
  /** What follows belongs to a document that has been given up. */
  #isPassingOver = false;

  constructor(options: { readonly maxBytes: number }, sink: DocumentSink) {
    this.#maxBytes = options.maxBytes;
    this.#sink = sink;
  }

  push(packet: RtpPacket, lostBefore: number): void {
    const { buffer, payloadStart: start, payloadEnd: end } = packet;
    const isBegin =
      (this.#length > 0 || this.#isPassingOver || lostBefore > 0) && beginsDocument(buffer, start, end);
    if (isBegin) {
      if (this.#length > 0) this.counters.damagedFrames += 1;
      this.reset();
    } else if (lostBefore > 0) {
      // It may have been the end of this one, and the begin of the next: neither is whole.
      if (!this.#isPassingOver) this.counters.damagedFrames += 1;
      this.#length = 0;
      this.#isPassingOver = true;
    }
    if (!this.#isPassingOver) this.#append(packet);
    if (packet.marker) this.#finish();
    else if (this.#length > 0 && endsDocument(this.#bytes, this.#length)) this.#finish();
  }

  reset(): void {
    this.#length = 0;
    this.#isPassingOver = false;
  }

  #append({ buffer, payloadStart, payloadEnd, timestamp }: RtpPacket): void {
    const needed = this.#length + payloadEnd - payloadStart;
    if (needed > this.#maxBytes) {
      this.counters.oversizedFrames += 1;
      this.#length = 0;
      this.#isPassingOver = true;
      return;
    }
    if (needed > this.#bytes.length) {
      const size = Math.min(this.#maxBytes, Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(needed))));
      const larger = Buffer.allocUnsafeSlow(size);
      this.#bytes.copy(larger, 0, 0, this.#length);
      this.#bytes = larger;
    }
    if (this.#length === 0) this.#timestamp = timestamp;
    buffer.copy(this.#bytes, this.#length, payloadStart, payloadEnd);
    this.#length = needed;
  }

  #finish(): void {
    const length = this.#length;
    this.reset();
    if (length > 0) this.#sink.document(this.#bytes, length, this.#timestamp);
  }
}
