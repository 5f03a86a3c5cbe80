import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MonotonicMs } from '../../../src/base/clock.js';
import { g711Track } from '../../../src/codec/audio-track.js';
import { MergedReader } from '../../../src/live/hls/merged-reader.js';
import { infoOf } from '../../mpegts/mux.js';
import { fixtures } from '../../support/fixtures.js';
import { KEY, makeRing, nalOf, stampOf, type TestRing, writeFrame } from '../../support/ring.js';

const AUDIO_HZ = 48_000;

const at = (ms: number): MonotonicMs => ms as MonotonicMs;

const makeCamera = (audio = fixtures.aac().track): TestRing => {
  const ring = makeRing();
  ring.writer.setStreamInfo(infoOf(fixtures.h264High(), audio));
  return ring;
};

const sendPicture = ({ writer }: TestRing, ms: number, flags = 0): void => {
  writeFrame(writer, nalOf(ms, 50), { dts: ms * 90, arrivalMs: ms, flags });
};

/** Audio of `ms` that arrives later. */
const sendAudio = ({ writer }: TestRing, ms: number, arrivalMs: number): void => {
  writer.writeAudio(nalOf(ms, 40), 0, 40, stampOf({ ptsTicks: (ms * AUDIO_HZ) / 1000, arrivalMs }));
};

/** What comes out at a time: `v40` is the picture of 40 ms. */
const readAll = (reader: MergedReader, nowMs: number): string[] => {
  const seen: string[] = [];
  for (let frame = reader.next(at(nowMs)); frame !== null; frame = reader.next(at(nowMs))) {
    const target = Buffer.alloc(frame.lengthBytes);
    assert.ok(frame.copyTo(target, 0));
    seen.push(frame.isVideo ? `v${target.readInt32LE(4)}` : `a${target.readInt32LE(0)}`);
  }
  return seen;
};

test('frames come in the order of their times, though the audio arrives later', () => {
  const ring = makeCamera();
  const reader = new MergedReader(ring.writer.ring, at(0));
  for (let ms = 0; ms <= 80; ms += 40) sendPicture(ring, ms, ms === 0 ? KEY : 0);
  assert.deepEqual(readAll(reader, 80), []);
  for (let ms = 10; ms <= 70; ms += 20) sendAudio(ring, ms, 100);
  assert.deepEqual(readAll(reader, 100), ['v0', 'a10', 'a30', 'v40', 'a50', 'a70']);
  sendPicture(ring, 120);
  sendAudio(ring, 90, 140);
  assert.equal(reader.next(at(140))?.isVideo, true);
  assert.equal(reader.nextAudioTicks, 90 * 48, 'where the audio goes on');
  assert.deepEqual(readAll(reader, 140), ['a90']);
});

test('a picture waits a quarter of a second for audio, no longer', () => {
  const ring = makeCamera();
  const reader = new MergedReader(ring.writer.ring, at(0));
  sendPicture(ring, 0, KEY);
  sendPicture(ring, 40);
  assert.deepEqual(readAll(reader, 250), []);
  assert.deepEqual(readAll(reader, 251), ['v0']);
  assert.ok(Number.isNaN(reader.nextAudioTicks));
  sendAudio(ring, 60, 280);
  assert.deepEqual(readAll(reader, 280), ['v40']);
  // Audio alone waits as long: pictures of its time may still come.
  assert.deepEqual(readAll(reader, 530), []);
  assert.deepEqual(readAll(reader, 531), ['a60']);
});

test('what waits for its sound goes on to wait in a ring that takes the place of this one', () => {
  const ring = makeRing({ slotCount: 16, maxSlotCount: 64 });
  ring.writer.setStreamInfo(infoOf(fixtures.h264High(), fixtures.aac().track));
  const reader = new MergedReader(ring.writer.ring, at(0));
  sendPicture(ring, 0, KEY);
  sendPicture(ring, 10);
  sendAudio(ring, 5, 15);
  assert.deepEqual(readAll(reader, 20), ['v0', 'a5']);
  for (let ms = 20; ms < 220; ms += 10) sendPicture(ring, ms);
  const [first, second] = ring.rings;
  assert.ok(second !== undefined && first !== second);
  assert.ok(reader.continuesIn(second));
  reader.moveTo(second);
  assert.deepEqual(readAll(reader, 220), [], 'no picture overtakes its sound');
  for (let ms = 15; ms < 40; ms += 10) sendAudio(ring, ms, 230);
  assert.deepEqual(readAll(reader, 230), ['v10', 'a15', 'v20', 'a25', 'v30', 'a35']);
  assert.equal(reader.droppedFrames, 0);
  const other = makeCamera();
  assert.ok(!reader.continuesIn(other.writer.ring));
  sendPicture(other, 0, KEY);
  sendAudio(other, 5, 300);
  reader.moveTo(other.writer.ring);
  assert.deepEqual(readAll(reader, 600), ['v0', 'a5']);
});

test('without audio that goes anywhere nothing waits', () => {
  for (const audio of [null, g711Track('pcmu', 90_000_000, 1)]) {
    const ring = makeRing();
    ring.writer.setStreamInfo(infoOf(fixtures.h264High(), audio));
    const reader = new MergedReader(ring.writer.ring, at(0));
    sendPicture(ring, 0, KEY);
    assert.deepEqual(readAll(reader, 0), ['v0']);
  }
});

test('the end of a ring is not reached while a picture waits', () => {
  const ring = makeCamera();
  const reader = new MergedReader(ring.writer.ring, at(0));
  sendPicture(ring, 0, KEY);
  ring.writer.close();
  assert.deepEqual(readAll(reader, 10), []);
  assert.equal(reader.ended, false);
  assert.deepEqual(readAll(reader, 300), ['v0']);
  assert.equal(reader.ended, true);
});

test('while it is open whether there is sound nothing is read; then its format is what it turned out to be', () => {
  const audio = fixtures.aac().track;
  for (const sound of [audio, null]) {
    const ring = makeRing();
    ring.writer.setStreamInfo(infoOf(fixtures.h264High()), true);
    const reader = new MergedReader(ring.writer.ring, at(0));
    sendPicture(ring, 0, KEY);
    sendAudio(ring, 10, 20);
    assert.deepEqual(readAll(reader, 200), []);
    ring.writer.setStreamInfo(infoOf(fixtures.h264High(), sound));
    const frame = reader.next(at(200));
    assert.equal(frame?.isVideo, true);
    assert.deepEqual(frame?.formatInfo()?.audio ?? null, sound);
    sendPicture(ring, 40);
    assert.deepEqual(readAll(reader, 200), sound === null ? ['v40'] : ['a10']);
  }
});
