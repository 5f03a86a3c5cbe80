import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/base/errors.js';
import { lastFramesOf, readCounters } from '../../src/ring/counters.js';
import { frameFlag } from '../../src/ring/frame-flag.js';
import { RingReader } from '../../src/ring/reader.js';
import {
  copyOf,
  KEY,
  makeRing,
  nalOf,
  prefixed,
  seedsOf,
  stampOf,
  streamInfo,
  writeFrame,
} from '../support/ring.js';

const hasCode = (code: string) => (thrown: unknown) => thrown instanceof AppError && thrown.code === code;

test('there is room for every counter', () => {
  const counters = Object.entries(readCounters(makeRing().writer.ring));
  assert.deepEqual(
    counters.filter(([, count]) => typeof count !== 'number'),
    [],
  );
});

test('a frame comes out as it went in, NAL units length-prefixed, with all its numbers', () => {
  const { writer } = makeRing();
  const reader = new RingReader(writer.ring, { start: 'next' });
  const [sei, slice] = [nalOf(1, 30), nalOf(2, 5000)];
  writer.setStreamInfo(streamInfo(1));
  writer.beginNal();
  writer.append(sei, 0, sei.length);
  writer.endNal();
  writer.beginNal();
  for (let at = 0; at < slice.length; at += 1000) writer.append(slice, at, at + 1000);
  writer.endNal();
  const flags = KEY | frameFlag.damaged;
  writer.commitVideo(
    stampOf({ ptsTicks: 3600.5, dtsTicks: -7200, wallMs: 1.7e12, arrivalMs: 123.456, flags }),
  );
  assert.equal(reader.next(), true);
  assert.deepEqual(copyOf(reader), prefixed(sei, slice));
  assert.equal(reader.isIntact(), true);
  const { ptsTicks, dtsTicks, wallMs, arrivalMs, isKey, isVideo, isAudio, damaged, discontinuity } = reader;
  assert.deepEqual(
    { ptsTicks, dtsTicks, wallMs, arrivalMs, isKey, isVideo, isAudio, damaged, discontinuity },
    {
      ptsTicks: 3600.5,
      dtsTicks: -7200,
      wallMs: 1.7e12,
      arrivalMs: 123.456,
      isKey: true,
      isVideo: true,
      isAudio: false,
      damaged: true,
      discontinuity: false,
    },
  );
  assert.deepEqual(reader.streamInfo(), streamInfo(1));
  assert.equal(reader.next(), false);
});

test('an abort leaves nothing, an empty NAL unit or frame is none', () => {
  const { writer } = makeRing();
  const reader = new RingReader(writer.ring, { start: 'next' });
  const [kept, lost] = [nalOf(1, 100), nalOf(2, 100)];
  writer.beginNal();
  writer.append(lost, 0, 50);
  writer.abort();
  writer.commitVideo(stampOf({ flags: KEY }));
  assert.equal(reader.next(), false);
  writer.beginNal();
  writer.append(kept, 0, kept.length);
  writer.endNal();
  writer.beginNal();
  writer.endNal();
  writer.commitVideo(stampOf({ flags: KEY }));
  assert.equal(reader.next(), true);
  assert.deepEqual(copyOf(reader), prefixed(kept));
});

test('a frame over the limit is refused, however it is cut, and the next one is fine', () => {
  const { writer } = makeRing({ maxFrameBytes: 10_000 });
  const reader = new RingReader(writer.ring, { start: 'next' });
  assert.equal(writeFrame(writer, nalOf(1, 9997), { flags: KEY }), false);
  assert.equal(writeFrame(writer, nalOf(2, 9996), { flags: KEY }), true);
  writer.beginNal();
  assert.equal(writer.append(nalOf(3, 9994), 0, 9994), true);
  writer.endNal();
  writer.beginNal();
  assert.equal(writer.append(nalOf(3, 4), 0, 1), false, 'no room for the prefix of a second NAL unit');
  writer.abort();
  assert.deepEqual(seedsOf(reader), [2]);
});

test('audio waits for the open video frame and never splits it', () => {
  const { writer } = makeRing();
  const reader = new RingReader(writer.ring, { start: 'next' });
  const audio = (seed: number) => writer.writeAudio(nalOf(seed, 300), 0, 300, stampOf({ ptsTicks: seed }));
  writeFrame(writer, nalOf(1, 100), { flags: KEY });
  audio(2);
  writer.beginNal();
  writer.append(nalOf(5, 3000), 0, 1500);
  audio(3);
  audio(4);
  assert.deepEqual(seedsOf(reader), [1, 2]);
  writer.append(nalOf(5, 3000), 1500, 3000);
  writer.commitVideo(stampOf());
  writer.beginNal();
  writer.append(nalOf(5, 3000), 0, 1500);
  audio(6);
  writer.abort();
  assert.deepEqual(seedsOf(reader), [5, 3, 4, 6]);
  assert.equal(reader.isAudio, true);
  assert.equal(reader.ptsTicks, 6);
  assert.equal(reader.droppedFrames, 0);
});

test('audio that finds no room is lost and counted, never an error', () => {
  const { writer } = makeRing();
  writer.beginNal();
  writer.append(nalOf(1, 100), 0, 100);
  for (let i = 0; i < 200; i += 1) writer.writeAudio(nalOf(i, 1000), 0, 1000, stampOf());
  writer.commitVideo(stampOf({ flags: KEY }));
  writer.writeAudio(Buffer.alloc(100_000), 0, 100_000, stampOf());
  const { audioFrames, audioFramesDropped, audioBytes } = readCounters(writer.ring);
  assert.deepEqual(
    { audioFrames, audioFramesDropped, audioBytes },
    { audioFrames: 65, audioFramesDropped: 136, audioBytes: 65_000 },
  );
});

test('a description holds from the next commit on, and the last four stay readable', () => {
  const { writer } = makeRing();
  const reader = new RingReader(writer.ring, { start: 'next' });
  const readers: RingReader[] = [];
  for (let i = 1; i <= 5; i += 1) {
    writer.setStreamInfo(streamInfo(i));
    writer.setStreamInfo(streamInfo(i));
    writeFrame(writer, nalOf(i, 50), { flags: KEY });
    assert.equal(reader.next(), true);
    assert.equal(reader.streamVersion, i);
    assert.deepEqual(reader.streamInfo(), streamInfo(i));
    assert.equal(reader.streamInfo(), reader.streamInfo());
    const late = new RingReader(writer.ring, { start: 'latest-key' });
    late.next();
    readers.push(late);
  }
  assert.equal(readers[0]!.streamInfo(), null);
  assert.equal(readers[0]!.droppedFrames, 1);
  assert.deepEqual(readers[1]!.streamInfo(), streamInfo(2));
});

test('what cannot be is refused by name', () => {
  const { writer } = makeRing();
  assert.throws(() => writer.setStreamInfo(streamInfo(1, 9000)), hasCode('stream_info_too_large'));
  for (const options of [{ slotCount: 500 }, { dataBytes: 1000 }, { maxFrameBytes: 64 << 20 }]) {
    assert.throws(() => makeRing(options), hasCode('ring_options_invalid'));
  }
  assert.throws(
    () => new RingReader(new SharedArrayBuffer(100_000), { start: 'next' }),
    hasCode('ring_invalid'),
  );
});

test('counters are there for any thread', () => {
  const { writer } = makeRing();
  writer.add('packets', 14);
  writer.add('packets', 14);
  writer.set('rtpJumps', 3);
  for (let i = 0; i < 60; i += 1) {
    const isKey = i % 25 === 0;
    writeFrame(writer, nalOf(i, 996), {
      dts: i * 3600,
      arrivalMs: 50_000 + i * 40,
      flags: isKey ? KEY : 0,
    });
  }
  const counters = readCounters(writer.ring);
  assert.equal(counters.packets, 28);
  assert.equal(counters.rtpJumps, 3);
  assert.equal(counters.videoFrames, 60);
  assert.equal(counters.keyFrames, 3);
  assert.equal(counters.videoBytes, 60_000);
  assert.equal(counters.lastVideoArrivalMs, 50_000 + 59 * 40);
  assert.equal(counters.lastKeyArrivalMs, 52_000);
  assert.equal(counters.gopBytes, 25_000);
  assert.equal(counters.gopFrames, 25);
  assert.equal(counters.gopDurationMs, 1000);
});

test('the furthest that a frame is shown is told, be it sound, over any number of writers', () => {
  const { writer } = makeRing();
  assert.equal(lastFramesOf(writer.ring), null);
  const picture = (ptsTicks: number) => writeFrame(writer, nalOf(1, 50), { dts: ptsTicks });
  picture(180_000);
  picture(90_000);
  assert.equal(lastFramesOf(writer.ring)?.furthestMs, 2_000);
  writer.reach(2_500);
  picture(190_000);
  const { ring } = makeRing({}, writer.ring).writer;
  assert.deepEqual([lastFramesOf(ring)?.ptsTicks, lastFramesOf(ring)?.furthestMs], [190_000, 2_500]);
});

test('the bell is marked for subscribers only', () => {
  const ring = makeRing();
  const reader = new RingReader(ring.writer.ring, { start: 'next' });
  writeFrame(ring.writer, nalOf(1, 50), { flags: KEY });
  assert.equal(ring.marks, 0);
  reader.subscribe();
  reader.subscribe();
  assert.equal(ring.writer.subscribers, 1);
  writeFrame(ring.writer, nalOf(2, 50));
  assert.equal(ring.marks, 1);
  reader.unsubscribe();
  reader.unsubscribe();
  assert.equal(ring.writer.subscribers, 0);
});

test('other parameter sets are another description of the same format, once frames bring their own', () => {
  const { writer } = makeRing();
  const reader = new RingReader(writer.ring, { start: 'next' });
  const larger = { ...streamInfo(3).video, width: 2560, height: 1440 };
  const seen = [
    streamInfo(1),
    streamInfo(1),
    streamInfo(2),
    streamInfo(1),
    streamInfo(2),
    { ...streamInfo(1), audio: null },
    { video: larger, audio: null },
    { video: { ...larger, pps: [Uint8Array.of(0x68, 9)] }, audio: null },
  ].map((info) => {
    writer.setStreamInfo(info);
    writeFrame(writer, nalOf(1, 50), { flags: KEY });
    assert.ok(reader.next());
    return [reader.streamVersion, reader.formatVersion, writer.description.setsVary];
  });
  assert.deepEqual(seen, [
    [1, 1, false],
    [1, 1, false],
    [2, 2, true],
    [3, 2, true],
    [4, 2, true],
    [5, 5, true],
    [6, 6, false],
    [7, 7, true],
  ]);
  // Who takes the ring over goes on like that.
  const { writer: next } = makeRing({}, writer.ring);
  assert.deepEqual([next.description.formatVersion, next.description.setsVary], [7, true]);
});

test('what is put before a frame stands before its NAL units, wherever in the ring it lies', () => {
  const { writer, rings } = makeRing({
    dataBytes: 192 << 10,
    maxDataBytes: 192 << 10,
    maxFrameBytes: 32 << 10,
  });
  const reader = new RingReader(writer.ring, { start: 'next' });
  const sets = prefixed(nalOf(100, 30), nalOf(101, 9));
  for (let i = 0; i < 40; i += 1) {
    const nal = nalOf(i, 10_000 + i);
    writer.beginNal();
    writer.append(nal, 0, nal.length);
    writer.endNal();
    assert.ok(writer.prepend(sets));
    writer.commitVideo(stampOf({ ptsTicks: i, flags: KEY }));
    assert.ok(reader.next());
    assert.deepEqual(copyOf(reader), Buffer.concat([sets, prefixed(nal)]));
  }
  assert.equal(rings.length, 1);
  assert.equal(writer.prepend(sets), false, 'no frame is open');
});

test('sound that was awaited is of the format that waits for it; any other begins one', () => {
  const { writer } = makeRing();
  const reader = new RingReader(writer.ring, { start: 'next' });
  const silent = { ...streamInfo(1), audio: null };
  const put = (info: typeof silent | ReturnType<typeof streamInfo>, awaitsSound: boolean): number => {
    writer.setStreamInfo(info, awaitsSound);
    writeFrame(writer, nalOf(1, 50), { flags: KEY });
    assert.ok(reader.next());
    return reader.formatVersion;
  };
  assert.equal(put(silent, true), 1);
  assert.equal(reader.awaitsSound, true);
  assert.equal(reader.formatInfo()?.audio, null);
  writer.setStreamInfo(streamInfo(1));
  assert.equal(reader.awaitsSound, false);
  assert.deepEqual(reader.formatInfo(), streamInfo(1), 'of a frame that was there before');
  assert.equal(put(streamInfo(1), false), 1);
  assert.equal(put(silent, false), 3);
  assert.equal(put(silent, true), 3);
  assert.equal(reader.awaitsSound, false, 'it has begun without');
  assert.equal(put(streamInfo(1), false), 4);
  assert.equal(put({ ...silent, video: { ...silent.video, width: 640 } }, true), 5);
  assert.equal(put({ ...silent, video: { ...silent.video, width: 640 } }, false), 5);
  assert.equal(reader.awaitsSound, false);
  // A writer that dies leaves nobody waiting.
  put({ ...silent, video: { ...silent.video, width: 320 } }, true);
  makeRing({}, writer.ring);
  assert.equal(reader.awaitsSound, false);
});
