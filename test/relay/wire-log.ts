import type { MonotonicMs } from '../../src/base/clock.js';
import { BEFORE_FRAME_BYTES } from '../../src/relay/wire/format.js';
import type { FrameHead, WireHandler } from '../../src/relay/wire/reader.js';
import { writeFrameHead } from '../../src/relay/wire/write.js';

export type SaidFrame = Omit<FrameHead, 'lengthBytes'> & { readonly bytes: Uint8Array };

/** A frame as it goes over the wire. */
export const frameMessage = ({ bytes, ageMs, ...facts }: SaidFrame): Buffer => {
  const message = Buffer.alloc(BEFORE_FRAME_BYTES + bytes.length);
  const frame = { ...facts, arrivalMs: 0 as MonotonicMs, lengthBytes: bytes.length };
  message.set(bytes, writeFrameHead(message, 0, frame, facts.flags, ageMs as MonotonicMs));
  return message;
};

/** Keeps all that was said. */
export class WireLog implements WireHandler {
  readonly said: unknown[] = [];
  #frame: Omit<FrameHead, 'lengthBytes'> | null = null;
  #lengthBytes = 0;
  #bytes: Buffer[] = [];

  onText(type: string, text: string): void {
    this.said.push({ type, text });
  }

  onSeen(seen: number): void {
    this.said.push({ seen });
  }

  onFrame({ lengthBytes, ...frame }: Readonly<FrameHead>): void {
    this.#frame = frame;
    this.#lengthBytes = lengthBytes;
    this.#bytes = [];
  }

  onBytes(source: Buffer, start: number, end: number): void {
    this.#bytes.push(Buffer.from(source.subarray(start, end)));
  }

  onFrameEnd(): void {
    const bytes = Uint8Array.from(Buffer.concat(this.#bytes));
    if (bytes.length !== this.#lengthBytes) throw new Error('a frame of another length than was said');
    this.said.push({ ...this.#frame, bytes });
  }
}
