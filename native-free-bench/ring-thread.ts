import { readFileSync } from 'node:fs';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { systemClock } from '../src/base/clock.js';
import { Bell, BellListener } from '../src/ring/doorbell.js';
import { frameFlag } from '../src/ring/frame-flag.js';
import { FrameStamp } from '../src/ring/frame-stamp.js';
import { RingReader } from '../src/ring/reader.js';
import { RingWriter } from '../src/ring/writer.js';
import { quantile } from './table.js';

export type RingThreadData =
  | {
      readonly role: 'writer';
      readonly control: SharedArrayBuffer;
      readonly readers: number;
      readonly framesPerTurn: number;
      readonly turnMs: number;
      readonly seconds: number;
    }
  | {
      readonly role: 'reader';
      readonly control: SharedArrayBuffer;
      readonly ring: SharedArrayBuffer;
      readonly bell: SharedArrayBuffer;
    };

export type ReaderReport = {
  readonly frames: number;
  readonly cpuMicros: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  readonly dropped: number;
};

export const FRAME_BYTES = 20_000;
const PACKET_BYTES = Math.ceil(FRAME_BYTES / 14);
/** The first second of a run warms the code up. */
const WARM_UP_MS = 1000;

/** Writes frames as a depacketizer does: 14 packets each, from all alignments of a receive buffer. */
export class FrameSource {
  readonly #writer: RingWriter;
  readonly #received = Buffer.alloc(256 * 1024, 0x5a);
  readonly #stamp = new FrameStamp();
  #at = 0;
  #number = 0;

  constructor(writer: RingWriter) {
    this.#writer = writer;
  }

  write(): void {
    const arrivalMs = systemClock.monotonicMs();
    const writer = this.#writer;
    writer.beginNal();
    for (let written = 0; written < FRAME_BYTES; written += PACKET_BYTES) {
      const lengthBytes = Math.min(PACKET_BYTES, FRAME_BYTES - written);
      if (this.#at + lengthBytes > this.#received.length) this.#at = 0;
      writer.append(this.#received, this.#at, this.#at + lengthBytes);
      this.#at += lengthBytes + 18;
    }
    writer.endNal();
    const stamp = this.#stamp;
    stamp.ptsTicks = this.#number * 3600;
    stamp.dtsTicks = stamp.ptsTicks;
    stamp.wallMs = 0;
    stamp.arrivalMs = arrivalMs;
    stamp.flags = this.#number % 50 === 0 ? frameFlag.key : 0;
    writer.commitVideo(stamp);
    this.#number += 1;
  }
}

/** CPU time of this thread alone (Linux). */
const threadCpuMicros = (): number =>
  Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1000;

const write = (data: RingThreadData & { role: 'writer' }): void => {
  const words = new Int32Array(data.control);
  const bell = new Bell();
  const writer = new RingWriter({ dataBytes: 4 << 20 }, { bell, onReplaced: () => {} });
  const source = new FrameSource(writer);
  parentPort?.postMessage({ ring: writer.ring, bell: bell.memory });
  let frames = 0;
  let cpuBefore = 0;
  let framesBefore = 0;
  const warmAtMs = performance.now() + WARM_UP_MS;
  const turn = (): void => {
    if (Atomics.load(words, 0) < data.readers) return;
    for (let i = 0; i < data.framesPerTurn; i += 1) source.write();
    bell.ringIfNeeded();
    frames += data.framesPerTurn;
    if (framesBefore === 0 && performance.now() >= warmAtMs) {
      framesBefore = frames;
      cpuBefore = threadCpuMicros();
    }
  };
  const timer = setInterval(turn, data.turnMs);
  setTimeout(
    () => {
      clearInterval(timer);
      parentPort?.postMessage((threadCpuMicros() - cpuBefore) / Math.max(1, frames - framesBefore));
      writer.close();
      bell.ringIfNeeded();
    },
    WARM_UP_MS + data.seconds * 1000,
  );
};

const read = (data: RingThreadData & { role: 'reader' }): void => {
  const reader = new RingReader(data.ring, { start: 'next' });
  const target = Buffer.alloc(FRAME_BYTES + 4);
  const latencies: number[] = [];
  let cpuBefore = 0;
  const warmAtMs = performance.now() + WARM_UP_MS;
  const keepAlive = setInterval(() => {}, 1 << 30);
  const drain = (): void => {
    while (reader.next()) {
      if (!reader.copyTo(target, 0)) continue;
      if (cpuBefore > 0) latencies.push((systemClock.monotonicMs() - reader.arrivalMs) * 1000);
      else if (performance.now() >= warmAtMs) cpuBefore = threadCpuMicros();
    }
    if (!reader.ended) return;
    listener.stop();
    reader.unsubscribe();
    clearInterval(keepAlive);
    const cpuMicros = threadCpuMicros() - cpuBefore;
    latencies.sort((a, b) => a - b);
    const report: ReaderReport = {
      frames: latencies.length,
      cpuMicros,
      p50Micros: quantile(latencies, 0.5),
      p99Micros: quantile(latencies, 0.99),
      dropped: reader.droppedFrames,
    };
    parentPort?.postMessage(report);
  };
  const listener = new BellListener(data.bell, drain);
  reader.subscribe();
  listener.start();
  Atomics.add(new Int32Array(data.control), 0, 1);
};

if (!isMainThread) {
  const data = workerData as RingThreadData;
  if (data.role === 'writer') write(data);
  else read(data);
}
