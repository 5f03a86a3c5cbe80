import { parentPort, workerData } from 'node:worker_threads';
import { RingReader } from '../../src/ring/reader.js';
import { CheckedFrames, type ConsumerData, control, moveIfTold } from '../support/ring-threads.js';

/** Reads until the ring has ended, looks at every word of every frame, and reports. */
const data = workerData as ConsumerData;
const words = new Int32Array(data.control);
const never = new Int32Array(new SharedArrayBuffer(4));
const reader = new RingReader(data.ring, { start: 'next' });
const frames = new CheckedFrames(4 << 20);
const report = {
  first: -1,
  last: -1,
  delivered: 0,
  dropped: 0,
  overruns: 0,
  torn: 0,
  mixed: 0,
  outOfOrder: 0,
  orphans: 0,
  moves: 0,
};

const take = (): boolean => {
  const { ptsTicks, dtsTicks, arrivalMs, sequence } = reader;
  if (sequence !== ptsTicks || dtsTicks !== ptsTicks || arrivalMs !== ptsTicks * 40) report.mixed += 1;
  if (data.takes === 'numbers') return true;
  if (data.takes === 'copy') return reader.copyTo(frames.bytes, 0);
  const held = reader.hold(null);
  Atomics.wait(never, 0, 0, 1);
  held.copyTo(frames.bytes, 0);
  return reader.isIntact();
};

Atomics.add(words, control.ready, 1);
let lastReturned = -1;
while (!reader.ended) {
  report.moves += moveIfTold(reader, data.port);
  if (!reader.next()) {
    Atomics.wait(never, 0, 0, 1);
    continue;
  }
  const { gapBefore, isKey } = reader;
  if (report.first === -1) report.first = reader.ptsTicks;
  if (!take()) {
    report.overruns += 1;
    Atomics.add(words, control.overruns, 1);
    continue;
  }
  const number: number = data.takes === 'numbers' ? reader.ptsTicks : frames.check(reader.lengthBytes);
  if (number !== reader.ptsTicks) report.torn += 1;
  if (number <= report.last) report.outOfOrder += 1;
  if (lastReturned >= 0 && number !== lastReturned + 1 + gapBefore) report.outOfOrder += 1;
  if ((gapBefore > 0 || report.delivered === 0) && !isKey) report.orphans += 1;
  lastReturned = number;
  report.last = number;
  report.delivered += 1;
  Atomics.store(words, control.firstReader + data.index, report.delivered);
  if (data.restEvery > 0 && report.delivered % data.restEvery === 0) Atomics.wait(never, 0, 0, data.restMs);
}
report.dropped = reader.droppedFrames;
data.port.close();
parentPort?.postMessage(report);
