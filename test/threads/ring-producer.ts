import { parentPort, workerData } from 'node:worker_threads';
import { frameFlag } from '../../src/ring/frame-flag.js';
import { FrameStamp } from '../../src/ring/frame-stamp.js';
import { RingWriter } from '../../src/ring/writer.js';
import { CheckedFrames, control, type ProducerData } from '../support/ring-threads.js';

/** Writes checkable frames at full speed, in packets, until it is stopped or done; then closes the ring. */
const data = workerData as ProducerData;
const words = new Int32Array(data.control);
const writer = new RingWriter(data.options, {
  bell: { markPublished: () => {} },
  onReplaced: (ring) => {
    for (const port of data.ports) port.postMessage(ring);
  },
});
parentPort?.postMessage(writer.ring);
while (Atomics.load(words, control.ready) < data.readers) Atomics.wait(words, control.stop, 0, 1);

const frames = new CheckedFrames(data.mostFrameBytes);
const stamp = new FrameStamp();
const longGopFrames = data.longGopFrames ?? 0;
let number = 0;
const { mostAheadFrames = Number.POSITIVE_INFINITY, leastDelivered = 0 } = data;
const got = words.subarray(control.firstReader, control.firstReader + data.readers);
const isFarAhead = (): boolean => got.some((_, index) => number - Atomics.load(got, index) > mostAheadFrames);
const isWanted = (): boolean =>
  number < data.frames || got.some((_, index) => Atomics.load(got, index) < leastDelivered);

for (; isWanted() && Atomics.load(words, control.stop) === 0; number += 1) {
  while (isFarAhead() && Atomics.load(words, control.stop) === 0) Atomics.wait(words, control.stop, 0, 1);
  const lengthBytes = frames.make(number, data.leastFrameBytes, data.mostFrameBytes);
  writer.beginNal();
  for (let at = 0; at < lengthBytes; at += 1400) {
    writer.append(frames.bytes, at, Math.min(at + 1400, lengthBytes));
  }
  writer.endNal();
  const isKey = number === 0 || (number >= longGopFrames && number % data.keyEvery === 0);
  stamp.ptsTicks = number;
  stamp.dtsTicks = number;
  stamp.wallMs = 0;
  stamp.arrivalMs = number * 40;
  stamp.flags = isKey ? frameFlag.key : 0;
  writer.commitVideo(stamp);
  if (data.restEvery > 0 && number % data.restEvery === 0) Atomics.wait(words, control.stop, 0, 1);
}
writer.close();
for (const port of data.ports) port.close();
parentPort?.postMessage(number);
