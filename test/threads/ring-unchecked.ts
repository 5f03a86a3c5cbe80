import { parentPort, workerData } from 'node:worker_threads';
import { headerWord, RingMemory, slotWord } from '../../src/ring/layout.js';
import { CheckedFrames, type ConsumerData, control } from '../support/ring-threads.js';

/**
 * What a reader would be without the checks: takes the oldest frame that the header says is there, and copies
 * it. Stops the writer when it has seen a torn frame.
 */
const data = workerData as ConsumerData;
const words = new Int32Array(data.control);
const memory = new RingMemory(data.ring);
const frames = new CheckedFrames(4 << 20);
let torn = 0;

Atomics.add(words, control.ready, 1);
const giveUpMs = performance.now() + 40_000;
while (torn === 0 && performance.now() < giveUpMs) {
  const head = Atomics.load(memory.header, headerWord.head);
  const reserved = Atomics.load(memory.header, headerWord.reserved);
  for (let back = memory.slotCount - 1; back > 0; back -= 1) {
    const at = memory.slotAt(head - back);
    const position = memory.slots[at + slotWord.position] ?? 0;
    if (memory.slots[at] !== head - back || (reserved - position) >>> 0 > memory.dataBytes) continue;
    const offset = memory.slots[at + slotWord.offset] ?? 0;
    const lengthBytes = memory.slots[at + slotWord.lengthBytes] ?? 0;
    memory.data.copy(frames.bytes, 0, offset, offset + lengthBytes);
    if (frames.check(lengthBytes) !== head - back) torn += 1;
    break;
  }
}
Atomics.store(words, control.stop, 1);
data.port.close();
parentPort?.postMessage(torn);
