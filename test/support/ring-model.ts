import assert from 'node:assert/strict';
import { GRAIN_BYTES } from '../../src/ring/layout.js';
import { RingReader } from '../../src/ring/reader.js';
import { KEY, makeRing, nalOf, prefixed, stampOf, streamInfo, type TestRing } from './ring.js';

export type ModelOptions = {
  readonly dataBytes: number;
  readonly maxDataBytes: number;
  readonly maxFrameBytes: number;
  readonly slotCount: number;
  readonly maxSlotCount: number;
  readonly firstSequence: number;
  readonly firstPosition: number;
};

/** What the ring has to know of a frame, kept for ever. */
type ModelFrame = { bytes: Buffer; isVideo: boolean; isKey: boolean; info: number };

type ModelReader = {
  reader: RingReader;
  /** Index into the model of the frame that follows; null before the first. */
  cursor: number | null;
  delivered: number;
  firstIndex: number;
  hasSkipped: boolean;
};

/** A ring beside the simplest thing that it could be: a list. Each step checks one against the other. */
export class RingModel {
  readonly #options: ModelOptions;
  readonly #ring: TestRing;
  readonly #ceiling = { bytes: 64 << 20 };
  #isTrimmed = false;
  readonly #frames: ModelFrame[] = [];
  readonly #staged: Buffer[] = [];
  readonly #readers: ModelReader[] = [];
  #open: Buffer[] = [];
  #info = 0;
  #seed = 0;

  constructor(options: ModelOptions) {
    this.#options = options;
    this.#ring = makeRing(options, undefined, this.#ceiling);
    this.setInfo();
  }

  setInfo(): void {
    this.#info += 1;
    this.#ring.writer.setStreamInfo(streamInfo(this.#info));
  }

  nal(lengthBytes: number, packetBytes: number): void {
    const { writer } = this.#ring;
    const nal = this.#nextNal(lengthBytes);
    writer.beginNal();
    for (let at = 0; at < nal.length; at += packetBytes) {
      if (writer.append(nal, at, Math.min(nal.length, at + packetBytes))) continue;
      this.abort();
      return;
    }
    writer.endNal();
    this.#open.push(nal);
  }

  commit(isKey: boolean): void {
    const arrivalMs = this.#frames.length * 40;
    const flags = isKey ? KEY : 0;
    this.#ring.writer.commitVideo(stampOf({ ptsTicks: this.#seed, dtsTicks: 0, arrivalMs, flags }));
    if (this.#open.length > 0) {
      this.#frames.push({ bytes: prefixed(...this.#open), isVideo: true, isKey, info: this.#info });
    }
    this.#frameIsOver();
  }

  abort(): void {
    this.#ring.writer.abort();
    this.#frameIsOver();
  }

  audio(lengthBytes: number): void {
    const bytes = this.#nextNal(lengthBytes);
    this.#ring.writer.writeAudio(bytes, 0, bytes.length, stampOf());
    this.#staged.push(bytes);
    if (this.#open.length === 0) this.#frameIsOver();
  }

  /** The ring may be no larger than this from now on. */
  trim(bytes: number): void {
    this.#ceiling.bytes = bytes;
    this.#ring.writer.trim();
    this.#isTrimmed = true;
  }

  addReader(start: 'latest-key' | 'next'): void {
    if (this.#readers.length === 4) this.#readers.shift();
    const reader = new RingReader(this.#ring.writer.ring, { start });
    this.#readers.push({ reader, cursor: null, delivered: 0, firstIndex: 0, hasSkipped: false });
  }

  move(index: number): void {
    this.#at(index)?.reader.moveTo(this.#ring.writer.ring);
  }

  skip(index: number): void {
    const model = this.#at(index);
    if (model === undefined) return;
    const droppedBefore = model.reader.droppedFrames;
    const skipped = model.reader.skipToLatestKey();
    assert.equal(model.reader.droppedFrames, droppedBefore + skipped);
    model.hasSkipped = true;
  }

  read(index: number, count: number): void {
    const model = this.#at(index);
    for (let i = 0; model !== undefined && i < count && model.reader.next(); i += 1) this.#check(model);
  }

  /** A new reader finds the newest GOP whole: holds as long as the ring may grow. */
  checkNewestGop(): void {
    const key = this.#frames.findLastIndex((frame) => frame.isKey);
    this.addReader('latest-key');
    const model = this.#readers.at(-1);
    assert.ok(model);
    for (let i = key; i >= 0 && i < this.#frames.length; i += 1) {
      assert.equal(model.reader.next(), true);
      assert.equal(this.#indexOf(model.reader), i);
      this.#check(model);
    }
    assert.equal(model.reader.next(), false);
  }

  #check(model: ModelReader): void {
    const { reader } = model;
    const index = this.#indexOf(reader);
    const frame = this.#frames[index];
    assert.ok(frame, 'a frame that was never written');
    if (model.cursor === null) model.firstIndex = index;
    const cursor = model.cursor ?? index;
    assert.ok(index >= cursor, 'order');
    if (index > cursor || model.cursor === null) assert.equal(frame.isKey, true, 'a gap ends with a key');
    if (index > cursor && !model.hasSkipped && !this.#isTrimmed) this.#checkIsGone(cursor);
    const { gapBefore, droppedFrames } = reader;
    assert.equal(gapBefore, this.#videoBetween(cursor, index));
    assert.equal(droppedFrames, this.#videoBetween(model.firstIndex, index) - model.delivered);
    assert.deepEqual([reader.isVideo, reader.isKey], [frame.isVideo, frame.isKey]);
    const target = Buffer.alloc(reader.lengthBytes + 3);
    assert.equal(reader.copyTo(target, 3), true, 'nobody writes meanwhile');
    assert.deepEqual(target.subarray(3), frame.bytes);
    if (this.#info - frame.info < 4) assert.deepEqual(reader.streamInfo(), streamInfo(frame.info));
    model.cursor = index + 1;
    model.delivered += frame.isVideo ? 1 : 0;
    model.hasSkipped = false;
  }

  /** A frame may be missing only if the ring is too small for all that came since. */
  #checkIsGone(index: number): void {
    const since = this.#frames.slice(index);
    const bytes = since.reduce((sum, frame) => sum + frame.bytes.length + 8, 0);
    const slackBytes = GRAIN_BYTES + 3 * this.#options.maxFrameBytes;
    const { capacityBytes } = this.#ring.writer;
    const isGone = bytes + slackBytes > capacityBytes || since.length >= this.#options.slotCount;
    assert.ok(isGone, `a frame was dropped that is still there: ${bytes} of ${capacityBytes}`);
  }

  #frameIsOver(): void {
    this.#open = [];
    for (const bytes of this.#staged.splice(0)) {
      this.#frames.push({ bytes, isVideo: false, isKey: false, info: this.#info });
    }
  }

  #videoBetween(from: number, to: number): number {
    return this.#frames.slice(from, to).filter(({ isVideo }) => isVideo).length;
  }

  #indexOf(reader: RingReader): number {
    return (reader.sequence - this.#options.firstSequence) >>> 0;
  }

  #at(index: number): ModelReader | undefined {
    return this.#readers[index % Math.max(1, this.#readers.length)];
  }

  #nextNal(lengthBytes: number): Buffer {
    this.#seed += 1;
    return nalOf(this.#seed, Math.max(4, lengthBytes));
  }
}
