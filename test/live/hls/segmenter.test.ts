import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { WallMs } from '../../../src/base/clock.js';
import { FileScanner } from '../../../src/fmp4/file-scanner.js';
import { lowLatencyPlaylist } from '../../../src/live/hls/ll-playlist.js';
import { videoPlaylist } from '../../../src/live/hls/playlists.js';
import { SAMPLE_FIELDS, sampleField, sampleKind } from '../../../src/live/hls/segment.js';
import { Segmenter } from '../../../src/live/hls/segmenter.js';
import { TsMaker } from '../../../src/live/hls/ts-maker.js';
import { Numbers, SegmentWindow } from '../../../src/live/hls/window.js';
import { frameFlag } from '../../../src/ring/frame-flag.js';
import { RingReader } from '../../../src/ring/reader.js';
import { infoOf } from '../../mpegts/mux.js';
import { fixtures } from '../../support/fixtures.js';
import { makeRing, nalOf, stampOf, writeFrame } from '../../support/ring.js';
import { addressesOf, parse } from './playlist-reader.js';

type Frame = {
  readonly stepTicks: number;
  readonly isKey: boolean;
  readonly isBroken: boolean;
  readonly isAudio: boolean;
  readonly isOther: boolean;
};

const frames = fc.array(
  fc.record<Frame>({
    stepTicks: fc.oneof(
      { weight: 8, arbitrary: fc.integer({ min: 1_000, max: 20_000 }) },
      { weight: 1, arbitrary: fc.integer({ min: -200_000, max: 900_000 }) },
    ),
    isKey: fc.nat({ max: 9 }).map((n) => n === 0),
    isBroken: fc.nat({ max: 19 }).map((n) => n === 0),
    isAudio: fc.nat({ max: 2 }).map((n) => n === 0),
    isOther: fc.nat({ max: 29 }).map((n) => n === 0),
  }),
  { minLength: 100, maxLength: 400 },
);

test('whatever a camera sends: playlists keep the rules, numbers go on, segments can be read', () => {
  const infos = [
    infoOf(fixtures.h264High(), fixtures.aac().track),
    infoOf(fixtures.h264BFrames(), null),
    { ...infoOf(fixtures.h264High()), video: { ...infoOf(fixtures.h264High()).video, sps: [] } },
  ];
  const tsMaker = new TsMaker();
  fc.assert(
    fc.property(frames, (sent) => {
      const { writer } = makeRing();
      writer.setStreamInfo(infos[0]!);
      const reader = new RingReader(writer.ring, { start: 'next' });
      const window = new SegmentWindow(new Numbers(0 as WallMs));
      const segmenter = new Segmenter(window, false);
      let ticks = 0;
      let info = 0;
      let lastNumber = -1;
      for (const [index, { stepTicks, isKey, isBroken, isAudio, isOther }] of sent.entries()) {
        ticks += stepTicks;
        if (isOther) info += 1;
        writer.setStreamInfo(infos[info % infos.length]!);
        const flags = (isKey ? frameFlag.key : 0) | (isBroken ? frameFlag.discontinuity : 0);
        if (isAudio) writer.writeAudio(nalOf(index, 40), 0, 40, stampOf({ ptsTicks: (ticks * 48) / 90 }));
        else writeFrame(writer, nalOf(index, 60), { dts: ticks, flags });
        while (reader.next()) segmenter.accept(reader, Number.NaN);
        const listed = window.listed();
        assert.ok(listed.every(({ number }, at) => number === listed[0]!.number + at));
        const newest = window.open?.number ?? listed.at(-1)?.number ?? lastNumber;
        assert.ok(newest >= lastNumber);
        lastNumber = newest;
      }
      const [first] = window.listed();
      if (first === undefined) return;
      assert.equal(addressesOf(parse(videoPlaylist(window, ''))).length, window.listed().length);
      // Parts between frames that come and go as they like aren't all as long as players are promised.
      for (const isDelta of [false, true])
        assert.match(lowLatencyPlaylist(window, '', isDelta), /^#EXTM3U\n/);
      for (const segment of window.listed()) {
        assert.ok(segment.durationTicks! > 0);
        assert.ok(tsMaker.make(segment).length % 188 === 0);
        const { head } = segment.start;
        const file = Buffer.concat([head.init.bytes, ...segment.parts.map(({ bytes }) => bytes)]);
        assert.equal(wholeBytesOf(file), file.length);
      }
    }),
    { numRuns: 60 },
  );
});

test('sound that comes back before the picture does is not put behind the old one', () => {
  const { writer } = makeRing();
  writer.setStreamInfo(infoOf(fixtures.h264High(), fixtures.aac().track));
  const reader = new RingReader(writer.ring, { start: 'next' });
  const window = new SegmentWindow(new Numbers(0 as WallMs));
  const segmenter = new Segmenter(window, false);
  const sendAudio = (ms: number, flags = 0): void =>
    writer.writeAudio(nalOf(ms, 40), 0, 40, stampOf({ ptsTicks: ms * 48, flags }));
  const sendPicture = (ms: number, flags: number): void =>
    void writeFrame(writer, nalOf(ms, 60), { dts: ms * 90, flags });
  sendPicture(0, frameFlag.key);
  sendAudio(10);
  sendPicture(40, 0);
  // Three seconds away, less than what breaks off by itself.
  sendAudio(3_000, frameFlag.discontinuity);
  sendAudio(3_020);
  sendPicture(3_030, frameFlag.key | frameFlag.discontinuity);
  sendAudio(3_040);
  sendPicture(3_070, 0);
  sendPicture(5_100, frameFlag.key);
  sendPicture(5_140, frameFlag.key | frameFlag.discontinuity);
  while (reader.next()) segmenter.accept(reader, Number.NaN);
  const audioMs = window.listed().map(({ parts }) =>
    parts.flatMap(({ samples }) => {
      const found: number[] = [];
      for (let at = 0; at < samples.length; at += SAMPLE_FIELDS) {
        const isAudio = samples[at + sampleField.kind] === sampleKind.audio;
        if (isAudio) found.push(samples[at + sampleField.pts]! / 48);
      }
      return found;
    }),
  );
  assert.deepEqual(audioMs, [[10], [3_040], []]);
});

/** How much of a file our own reader takes for whole. */
const wholeBytesOf = (file: Buffer): number => {
  const scanner = new FileScanner(file.length);
  for (let wanted = scanner.wanted; wanted !== null; wanted = scanner.wanted) {
    scanner.feed(file.subarray(wanted.offset, wanted.offset + wanted.lengthBytes));
  }
  return scanner.wholeBytes;
};
