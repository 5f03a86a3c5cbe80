import { RtspParser, type RtspParserHandler } from '../src/rtsp/parser.js';
import type { Bench, BenchResult } from './bench.js';

type ParserOptions = {
  /** Megabytes to measure per way of reading, after a warm-up of a tenth of that. */
  readonly megabytes: number;
};

const PACKET_BYTES = 1412;
const FRAME_BYTES = 4 + PACKET_BYTES;
const READ_BYTES = 65_536;

/** Does what a session does with a frame at the least: looks at it, and keeps nothing. */
class FrameCounter implements RtspParserHandler {
  frames = 0;
  bytes = 0;
  versions = 0;

  onInterleaved(_channel: number, buffer: Buffer, start: number, end: number): void {
    this.frames += 1;
    this.bytes += end - start;
    this.versions += buffer[start]! >> 6;
  }

  onResponse(): void {}

  onRequest(): void {}
}

/** Interleaved frames of full-size RTP packets, back to back. */
const createStream = (frames: number): Buffer => {
  const stream = Buffer.alloc(frames * FRAME_BYTES, 0x24);
  for (let at = 0; at < stream.length; at += FRAME_BYTES) {
    stream[at + 1] = 0;
    stream.writeUInt16BE(PACKET_BYTES, at + 2);
    stream[at + 4] = 0x80;
  }
  return stream;
};

const cpuMicrosOf = (work: () => void): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
};

/** Feeds the stream over and over in reads of `readBytes`, in place: no copy into a read buffer is measured. */
const measure = (stream: Buffer, readBytes: number, totalBytes: number): (string | number)[] => {
  const handler = new FrameCounter();
  const counters = { garbageBytes: 0, unknownChannelFrames: 0 };
  const parser = new RtspParser(handler, counters);
  parser.allowChannel(0);
  let at = 0;
  const feed = (bytes: number): void => {
    for (let fed = 0; fed < bytes; ) {
      const end = Math.min(at + readBytes, stream.length);
      parser.feed(stream, at, end);
      fed += end - at;
      at = end === stream.length ? 0 : end;
    }
  };
  feed(totalBytes / 10);
  const { frames: framesBefore, bytes: bytesBefore } = handler;
  const cpuMicros = cpuMicrosOf(() => feed(totalBytes));
  const frames = handler.frames - framesBefore;
  if (counters.garbageBytes > 0 || handler.versions !== handler.frames * 2) {
    throw new Error('the parser lost its place');
  }
  return [(cpuMicros * 1000) / frames, (handler.bytes - bytesBefore) / cpuMicros];
};

/** Feeds interleaved frames to the RTSP parser, and measures what finding them costs. */
export const runRtspParserBench = ({ megabytes }: ParserOptions): BenchResult => {
  const totalBytes = megabytes * 1_000_000;
  const stream = createStream(1024);
  return {
    columns: ['reads', 'ns/frame', 'MB/core-s'],
    rows: [
      ['one packet a read', ...measure(stream, FRAME_BYTES, totalBytes)],
      ['64 KB a read', ...measure(stream, READ_BYTES, totalBytes)],
      ['1000 B a read', ...measure(stream, 1000, totalBytes)],
    ],
    notes: ['Frames of 1412 B; one that straddles two reads is copied once, all others stay where they are.'],
  };
};

/** The benchmark as the registry wants it. */
export const rtspParser: Bench<ParserOptions> = {
  name: 'rtsp-parser',
  describe: 'interleaved frames found in a TCP stream, by size of the reads',
  options: { megabytes: 4000 },
  run: runRtspParserBench,
};
