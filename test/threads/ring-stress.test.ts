import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import {
  type ConsumerData,
  type ConsumerReport,
  control,
  messageOf,
  type ProducerData,
  startThread,
} from '../support/ring-threads.js';

type Pace = Pick<ConsumerData, 'restEvery' | 'restMs' | 'takes'>;
type Load = Omit<ProducerData, 'control' | 'readers' | 'ports'>;

const MB = 1 << 20;
const fast: Pace = { restEvery: 0, restMs: 0, takes: 'copy' };
const slow: Pace = { restEvery: 20, restMs: 2, takes: 'copy' };
const numbersOnly: Pace = { restEvery: 0, restMs: 0, takes: 'numbers' };
const inPlace: Pace = { restEvery: 0, restMs: 0, takes: 'later' };

const fullSpeed: Load = {
  options: { dataBytes: MB, maxDataBytes: MB, maxFrameBytes: 131_072, slotCount: 128, maxSlotCount: 128 },
  leastFrameBytes: 64,
  mostFrameBytes: 40_000,
  keyEvery: 10,
  restEvery: 0,
  frames: Number.POSITIVE_INFINITY,
};

/** So few slots and so small frames that slots are what readers and the writer meet at. */
const slotsOnly: Load = {
  ...fullSpeed,
  options: { ...fullSpeed.options, slotCount: 2, maxSlotCount: 2 },
  leastFrameBytes: 16,
  mostFrameBytes: 64,
  keyEvery: 1,
};

const leastDelivered = 11;
/** Then what has been read so far must do. */
const MAX_READING_MS = 40_000;

/**
 * One producer and its readers, each a thread; none is stopped before each reader got a few frames, and readers were
 * overtaken so often. `stopAfterMs`: null where it ends by itself.
 */
const run = async <Report>(
  load: Load,
  consumer: string,
  paces: Pace[],
  stopAfterMs: number | null,
  leastOverruns = 0,
): Promise<{ reports: Report[]; written: number }> => {
  const words = new Int32Array(new SharedArrayBuffer(4 * (control.firstReader + paces.length)));
  const channels = paces.map(() => new MessageChannel());
  const ports: MessagePort[] = channels.map(({ port1 }) => port1);
  const producerData: ProducerData = { ...load, control: words.buffer, readers: paces.length, ports };
  const producer = startThread('ring-producer', producerData, ports);
  const ring = await messageOf<SharedArrayBuffer>(producer);
  const written = messageOf<number>(producer);
  const readers = paces.map((pace, index) => {
    const port = channels[index]?.port2;
    assert.ok(port);
    const data: ConsumerData = { ...pace, ring, control: words.buffer, index, port };
    return startThread(consumer, data, [port]);
  });
  const reports = Promise.all(readers.map((reader) => messageOf<Report>(reader)));
  const exits = [producer, ...readers].map((worker) => once(worker, 'exit'));
  const beganMs = performance.now();
  const stop = (): void => {
    const isLong = performance.now() - beganMs > MAX_READING_MS;
    const isRead = words.subarray(control.firstReader).every((got) => got >= leastDelivered);
    if (isLong || (isRead && Atomics.load(words, control.overruns) >= leastOverruns)) {
      Atomics.store(words, control.stop, 1);
    } else timer = setTimeout(stop, 10);
  };
  let timer = stopAfterMs === null ? undefined : setTimeout(stop, stopAfterMs);
  const result = { reports: await reports, written: await written };
  clearTimeout(timer);
  await Promise.all(exits);
  return result;
};

const checkCounts = (report: ConsumerReport, written: number): void => {
  assert.equal(report.torn, 0);
  assert.equal(report.mixed, 0);
  assert.equal(report.outOfOrder, 0);
  assert.equal(report.orphans, 0, 'frames that came without those before them');
  assert.ok(report.delivered >= leastDelivered, 'it did read');
  assert.equal(report.delivered + report.dropped, written - report.first);
};

test('no reader in another thread ever gets a torn frame, and each knows what it lost', {
  timeout: 60_000,
}, async () => {
  const { reports, written } = await run<ConsumerReport>(
    fullSpeed,
    'ring-consumer',
    [fast, slow, inPlace],
    1500,
    1,
  );
  for (const report of reports) checkCounts(report, written);
  const overruns = reports.reduce((sum, report) => sum + report.overruns, 0);
  assert.ok(overruns > 0, 'the writer was fast enough to make the check matter');
});

test('nor does a slot that changes under a reader mix the numbers of two frames', {
  timeout: 60_000,
}, async () => {
  const { reports, written } = await run<ConsumerReport>(slotsOnly, 'ring-consumer', [numbersOnly], 800);
  for (const report of reports) checkCounts(report, written);
});

test('a ring that shrinks under its readers tears no frame, and each knows what it lost', {
  timeout: 60_000,
}, async () => {
  const load: Load = {
    options: { maxFrameBytes: 131_072 },
    leastFrameBytes: 64,
    mostFrameBytes: 40_000,
    keyEvery: 20,
    longGopFrames: 400,
    restEvery: 20,
    frames: 2_000,
    leastDelivered,
  };
  const { reports, written } = await run<ConsumerReport>(load, 'ring-consumer', [fast, slow, inPlace], null);
  for (const report of reports) {
    checkCounts(report, written);
    assert.ok(report.moves > 0, 'it moved');
  }
});

test('without the check the same load tears frames', { timeout: 60_000 }, async () => {
  const { reports } = await run<number>(fullSpeed, 'ring-unchecked', [fast], null);
  assert.ok((reports[0] ?? 0) > 0);
});

test('a ring that is replaced again and again under its readers loses no frame', {
  timeout: 60_000,
}, async () => {
  const load: Load = {
    options: { dataBytes: 262_144, maxFrameBytes: 131_072, slotCount: 16 },
    leastFrameBytes: 64,
    mostFrameBytes: 20_000,
    keyEvery: 400,
    restEvery: 20,
    // A thread that gets no processor for 50 ms would lose frames by itself.
    mostAheadFrames: 100,
    frames: 1000,
  };
  const { reports, written } = await run<ConsumerReport>(load, 'ring-consumer', [fast, fast], null);
  for (const report of reports) {
    checkCounts(report, written);
    const { first, last, delivered, dropped, overruns } = report;
    assert.deepEqual(
      { first, last, delivered, dropped, overruns },
      {
        first: 0,
        last: 999,
        delivered: 1000,
        dropped: 0,
        overruns: 0,
      },
    );
    assert.ok(report.moves > 3, 'it moved');
  }
});
