import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { opusTrack } from '../../src/codec/audio-track.js';
import { AnnexBCursor } from '../../src/codec/nal-cursor.js';
import { CLOCK_LAG_TICKS, SegmentMuxer, type SegmentMuxerOptions } from '../../src/mpegts/segment-muxer.js';
import { START_OFFSET_TICKS, toTimestamp } from '../../src/mpegts/timestamp.js';
import { joinNals, splitNals } from '../support/access-units.js';
import { adtsHeaderBytes } from '../support/adts.js';
import { fixtures } from '../support/fixtures.js';
import { type Demuxed, demux } from './demuxer.js';
import { addFrame, earlyTicks, gopsOf, infoOf, muxAll } from './mux.js';

const VIDEO_PID = 0x100;
const AUDIO_PID = 0x101;
const DELIMITER = { h264: '09f0', h265: '460150' } as const;

/** A NAL unit of any size without start codes inside, so that what comes out can be taken apart again. */
const nalOf = (header: number, bytes: number): Buffer => {
  const nal = Buffer.from(Array.from({ length: bytes }, (_, index) => 1 + ((index * 7 + bytes) % 255)));
  nal[0] = header;
  return nal;
};

const nalsIn = (annexB: Buffer): string[] => {
  const cursor = new AnnexBCursor();
  cursor.open(annexB, 0, annexB.length);
  const nals: string[] = [];
  while (cursor.next()) nals.push(annexB.toString('hex', cursor.offset, cursor.offset + cursor.length));
  return nals;
};

const adtsBodiesIn = (payload: Buffer): string[] => {
  const bodies: string[] = [];
  for (let at = 0; at < payload.length; ) {
    const end = at + (((payload[at + 3]! & 3) << 11) | (payload[at + 4]! << 3) | (payload[at + 5]! >> 5));
    assert.equal(adtsHeaderBytes(payload, at, end), 7);
    bodies.push(payload.toString('hex', at + 7, end));
    at = end;
  }
  return bodies;
};

const videoOf = ({ pes }: Demuxed) => pes.filter(({ pid }) => pid === VIDEO_PID);
const audioOf = ({ pes }: Demuxed) => pes.filter(({ pid }) => pid === AUDIO_PID);

const muxerFor = (
  continuity: SegmentMuxerOptions['continuity'] = 'carried',
  maxBytes = 64 << 20,
): SegmentMuxer => new SegmentMuxer({ continuity, initialBytes: 188, maxBytes });

const addVideo = (muxer: SegmentMuxer, frame: Buffer, ticks: number, isKey = false): boolean =>
  muxer.video(frame, 0, frame.length, ticks, ticks, isKey);

const streamInfo = infoOf(fixtures.h264High(), fixtures.aac().track);
const first = { index: 0, discontinuity: false } as const;

describe('any frames', () => {
  const nalBytes = fc.oneof(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 70_000 }));
  const frame = fc.oneof(
    fc.record({
      kind: fc.constant('video' as const),
      sizes: fc.array(nalBytes, { minLength: 1, maxLength: 4 }),
      isKey: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('audio' as const),
      sizes: fc.tuple(fc.integer({ min: 1, max: 8184 })),
      isKey: fc.constant(false),
    }),
  );
  const shape = fc.record({
    continuity: fc.constantFrom('carried' as const, 'standalone' as const),
    segments: fc.array(fc.array(frame, { maxLength: 12 }), { minLength: 1, maxLength: 4 }),
    stepTicks: fc.constantFrom(1, 1500, 3000, 18_000, 90_000),
    startTicks: fc.constantFrom(0, 5, 2 ** 33 - 950_000, 2 ** 33 - 900_001, 1_234_567_890_123),
  });

  test('come out as they went in, whatever their sizes, and counters and clocks hold over every join', () => {
    fc.assert(
      fc.property(shape, ({ continuity, segments, stepTicks, startTicks }) => {
        const muxer = muxerFor(continuity);
        const wantedNals: string[][] = [];
        const wantedAudio: string[] = [];
        let ticks = startTicks;
        const parts = segments.map((frames, index) => {
          muxer.begin(streamInfo, { index, discontinuity: false });
          for (const { kind, sizes, isKey } of frames) {
            if (kind === 'video') {
              const nals = sizes.map((size) => nalOf(isKey ? 0x65 : 0x41, size));
              assert.ok(addVideo(muxer, joinNals(nals), ticks, isKey));
              const sets = isKey ? [...streamInfo.video.sps, ...streamInfo.video.pps] : [];
              const hex = [...sets, ...nals].map((nal) => Buffer.from(nal).toString('hex'));
              wantedNals.push([DELIMITER.h264, ...hex]);
              ticks += stepTicks;
            } else {
              const body = nalOf(0x21, sizes[0]!);
              assert.ok(muxer.audio(body, 0, body.length, Math.round((ticks * 48) / 90)));
              wantedAudio.push(body.toString('hex'));
            }
          }
          return Buffer.from(muxer.finish(null).bytes);
        });
        const out = demux(...parts);
        assert.deepEqual(
          videoOf(out).map(({ payload }) => nalsIn(payload)),
          wantedNals,
        );
        assert.deepEqual(
          audioOf(out).flatMap(({ payload }) => adtsBodiesIn(payload)),
          wantedAudio,
        );
        videoOf(out).forEach(({ dts, clock }, index) => {
          assert.equal(dts, toTimestamp(startTicks + index * stepTicks, 90_000));
          assert.equal((dts - clock! + 2 ** 33) % 2 ** 33, CLOCK_LAG_TICKS);
        });
        assert.ok(videoOf(out).every(({ isDiscontinuity }) => !isDiscontinuity));
      }),
      { numRuns: 60 },
    );
  });

  test('of each size around the ends of packets', () => {
    for (const continuity of ['carried', 'standalone'] as const) {
      for (let bytes = 1; bytes <= 400; bytes += 1) {
        const muxer = muxerFor(continuity);
        muxer.begin(streamInfo, first);
        const nals = [nalOf(0x41, bytes), nalOf(0x41, 3)];
        assert.ok(addVideo(muxer, joinNals(nals), 0));
        const { bytes: segment } = muxer.finish(null);
        const [pes] = videoOf(demux(segment));
        assert.deepEqual(
          nalsIn(pes!.payload).slice(1),
          nals.map((nal) => nal.toString('hex')),
        );
        if (continuity === 'carried')
          assert.equal(segment.length, 376 + 188 * Math.ceil((8 + 14 + 6 + bytes + 11) / 184));
      }
    }
  });

  test('audio of each size around the ends of packets', () => {
    for (let bytes = 1; bytes <= 400; bytes += 1) {
      const muxer = muxerFor('standalone');
      const body = nalOf(0x21, bytes);
      const parts = [0, 1].map((index) => {
        muxer.begin(streamInfo, { index, discontinuity: false });
        assert.ok(muxer.audio(body, 0, bytes, index * 1024));
        return Buffer.from(muxer.finish(null).bytes);
      });
      const hex = body.toString('hex');
      assert.deepEqual(
        audioOf(demux(...parts)).map(({ payload }) => adtsBodiesIn(payload)),
        [[hex], [hex]],
      );
    }
  });

  test('arbitrary bytes are refused or muxed, and a refused frame leaves no trace', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), fc.boolean(), (bytes, isKey) => {
        const muxer = muxerFor();
        muxer.begin(streamInfo, first);
        const before = muxer.lengthBytes;
        const isTaken = addVideo(muxer, Buffer.from(bytes), 0, isKey);
        assert.equal(muxer.refusedFrames, isTaken ? 0 : 1);
        if (!isTaken) assert.equal(muxer.lengthBytes, before);
        addVideo(muxer, joinNals([nalOf(0x65, 50)]), 3000, true);
        demux(muxer.finish(null).bytes);
      }),
      { numRuns: 300 },
    );
  });
});

/** A segment of another camera. */
const muxShort = (muxer: SegmentMuxer): void => {
  muxer.begin(infoOf(fixtures.h265Main()), { index: 7, discontinuity: true });
  addVideo(muxer, joinNals([nalOf(0x26, 100)]), 1e9, true);
  addVideo(muxer, joinNals([nalOf(0x02, 100)]), 1e9 + 77, true);
  muxer.finish(null);
};

describe('segments', () => {
  test('standalone ones join in any company of neighbours, each made alone', () => {
    const segments = muxAll(fixtures.h264BFrames(), fixtures.aac(), 'standalone').map(({ bytes }) => bytes);
    const shared = muxerFor('standalone');
    const gops = gopsOf(fixtures.h264BFrames(), fixtures.aac());
    const info = infoOf(fixtures.h264BFrames(), fixtures.aac().track);
    for (const index of [3, 1, 2, 0]) {
      muxShort(shared);
      shared.begin(info, { index, discontinuity: false });
      for (const frame of gops[index]!) addFrame(shared, frame, 0, 48_000);
      assert.deepEqual(shared.finish(null).bytes, segments[index], 'the same from a muxer that is shared');
    }
    const out = demux(...segments);
    assert.equal(videoOf(out).length, 60);
    const alone = muxAll(fixtures.h264BFrames(), fixtures.aac(), 'carried');
    segments.forEach((bytes, index) => {
      assert.ok(bytes.length - alone[index]!.lengthBytes <= 30 * 188, 'at most 15 packets more a track');
    });
  });

  test('say what EXTINF needs: durations add up, and the last one is closed by its own frames', () => {
    const video = fixtures.h264BFrames();
    const segments = muxAll(video, null, 'standalone');
    const lastFrameTicks = 6000;
    assert.deepEqual(
      segments.map(({ durationTicks }) => durationTicks),
      [90_000, 90_000, 90_000, 90_000],
    );
    const last = segments.at(-1)!;
    assert.equal(last.firstPtsTicks + last.durationTicks, 59 * 6000 + lastFrameTicks);
    assert.equal(last.firstDtsTicks, 45 * 6000 - earlyTicks(video));
    assert.deepEqual([last.videoFrames, last.audioFrames, last.lengthBytes], [15, 0, last.bytes.length]);
  });

  test('begin with tables that name their streams, and keyframes are marked', () => {
    const h265 = demux(...muxAll(fixtures.h265Main(), fixtures.aac(), 'carried').map(({ bytes }) => bytes));
    assert.deepEqual(
      [...h265.streams],
      [
        [VIDEO_PID, 0x24],
        [AUDIO_PID, 0x0f],
      ],
    );
    assert.deepEqual(
      videoOf(h265).map(({ isRandomAccess }) => isRandomAccess),
      fixtures.h265Main().frames.map(({ isKey }) => isKey),
    );
    assert.ok(videoOf(h265).every(({ payload }) => nalsIn(payload)[0] === DELIMITER.h265));
    assert.ok(audioOf(h265).length < fixtures.aac().frames.length / 3, 'audio frames share a PES');
    assert.ok(
      audioOf(h265).every(({ pts, clock }) => clock === null || clock <= pts),
      'audio comes in time',
    );
    assert.deepEqual(
      [...demux(muxAll(fixtures.h264High(), null, 'carried')[0]!.bytes).streams],
      [[VIDEO_PID, 0x1b]],
    );
  });

  test('a keyframe that brings its own parameter sets has those alone before it', () => {
    const muxer = muxerFor();
    muxer.begin(streamInfo, first);
    const own = [nalOf(0x67, 20), nalOf(0x68, 6), nalOf(0x65, 300)];
    addVideo(muxer, joinNals(own), 0, true);
    const [pes] = videoOf(demux(Buffer.from(muxer.finish(null).bytes)));
    assert.deepEqual(nalsIn(pes!.payload), [DELIMITER.h264, ...own.map((nal) => nal.toString('hex'))]);
  });

  test('the program map gets another version when the streams change', () => {
    const muxer = muxerFor();
    const parts = [
      infoOf(fixtures.h264High()),
      streamInfo,
      infoOf(fixtures.h264Large(), streamInfo.audio),
      infoOf(fixtures.h265Main()),
    ].map((info, index) => {
      muxer.begin(info, { index, discontinuity: index > 0 });
      addVideo(muxer, joinNals([nalOf(0x26, 100)]), index * 90_000, true);
      addVideo(muxer, joinNals([nalOf(0x02, 100)]), index * 90_000 + 3600);
      return Buffer.from(muxer.finish(null).bytes);
    });
    const out = demux(...parts);
    assert.deepEqual(out.pmtVersions, [0, 1, 1, 2]);
    assert.deepEqual(
      videoOf(out).map(({ isDiscontinuity }) => isDiscontinuity),
      [false, false, true, false, true, false, true, false],
    );
  });
});

describe('the clock', () => {
  const dtsOf = (...ticks: readonly number[]): Demuxed => {
    const muxer = muxerFor();
    muxer.begin(streamInfo, first);
    for (const at of ticks) addVideo(muxer, joinNals([nalOf(0x41, 500)]), at);
    return demux(muxer.finish(null).bytes);
  };

  test('comes at least every 100 ms, however few the frames, and never goes back', () => {
    const { clocks } = dtsOf(0, 3000, 48_000, 48_000, 228_000, 237_001);
    const steps = clocks.slice(1).map((clock, index) => clock - clocks[index]!);
    assert.ok(Math.max(...steps) <= 9000 && Math.min(...steps) >= 0, steps.join(' '));
    assert.equal(clocks[0], START_OFFSET_TICKS - CLOCK_LAG_TICKS);
  });

  test('a frame is never shown before it is decoded', () => {
    const muxer = muxerFor();
    muxer.begin(streamInfo, first);
    muxer.video(joinNals([nalOf(0x41, 50)]), 0, 54, 3000, 9000, false);
    const [pes] = videoOf(demux(muxer.finish(null).bytes));
    assert.deepEqual([pes!.pts, pes!.dts], [START_OFFSET_TICKS + 9000, START_OFFSET_TICKS + 9000]);
  });

  test('a gap of hours is not filled', () => assert.equal(dtsOf(0, 1e9).clocks.length, 2));

  test('audio that skips tells its new time', () => {
    const muxer = muxerFor();
    muxer.begin(streamInfo, first);
    const body = nalOf(0x21, 60);
    for (const at of [0, 1024, 2048 + 480, 3072 + 480]) muxer.audio(body, 0, body.length, at);
    assert.deepEqual(
      audioOf(demux(muxer.finish(null).bytes)).map(({ pts, payload }) => [
        pts - START_OFFSET_TICKS,
        adtsBodiesIn(payload).length,
      ]),
      [
        [0, 2],
        [4740, 2],
      ],
    );
  });

  test('time that goes back is marked as a new base', () => {
    const marks = videoOf(dtsOf(90_000, 93_000, 0, 3000)).map(({ isDiscontinuity }) => isDiscontinuity);
    assert.deepEqual(marks, [false, false, true, false]);
  });
});

describe('frames that are not sent', () => {
  test('one taken back leaves the bytes, counters and facts of a segment without it', () => {
    const [gop] = gopsOf(fixtures.h264High(), fixtures.aac());
    const make = (isTorn: (index: number) => boolean, withTorn: boolean): Buffer => {
      const muxer = muxerFor('standalone');
      muxer.begin(streamInfo, { index: 0, discontinuity: true });
      gop!.forEach((frame, index) => {
        if (isTorn(index) && !withTorn) return;
        addFrame(muxer, frame, 0, 48_000);
        if (isTorn(index)) muxer.dropLast();
        if (isTorn(index)) muxer.dropLast();
      });
      return Buffer.from(muxer.finish(90_000).bytes);
    };
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 9 }), (each) => {
        const isTorn = (index: number): boolean => index % each === 0;
        const videoOnly = (index: number): boolean => isTorn(index) && !gop![index]!.isAudio;
        const pick = ({ pes }: Demuxed) =>
          pes.map(({ pid, pts, payload, isDiscontinuity }) => [pid, pts, payload, isDiscontinuity]);
        const sorted = (bytes: Buffer) => pick(demux(bytes)).filter(([pid]) => pid === VIDEO_PID);
        assert.deepEqual(sorted(make(videoOnly, true)), sorted(make(videoOnly, false)));
        const audio = (bytes: Buffer) =>
          audioOf(demux(bytes)).flatMap(({ payload }) => adtsBodiesIn(payload));
        assert.deepEqual(audio(make(isTorn, true)), audio(make(isTorn, false)));
      }),
      { numRuns: 20 },
    );
  });

  test('broken lengths, nothing, and what outgrows the segment are refused and counted', () => {
    const muxer = muxerFor('carried', 40_000);
    muxer.begin(streamInfo, first);
    const whole = joinNals([nalOf(0x65, 300)]);
    assert.equal(addVideo(muxer, whole.subarray(0, 299), 0, true), false);
    assert.equal(addVideo(muxer, Buffer.alloc(0), 0), false);
    assert.equal(muxer.video(whole, 0, whole.length + 1, 0, 0, true), false);
    assert.equal(addVideo(muxer, joinNals([nalOf(0x65, 40_000)]), 0), false);
    assert.equal(muxer.audio(Buffer.alloc(9000), 0, 9000, 0), false);
    assert.equal(muxer.audio(whole, 5, 5, 0), false);
    assert.equal(muxer.refusedFrames, 6);
    assert.ok(addVideo(muxer, whole, 0, true));
    assert.equal(videoOf(demux(muxer.finish(null).bytes)).length, 1);
  });

  test('audio that ADTS cannot carry is left out of the program', () => {
    const muxer = muxerFor();
    muxer.begin({ ...streamInfo, audio: opusTrack() }, first);
    assert.equal(muxer.hasAudio, false);
    assert.equal(muxer.audio(Buffer.alloc(100), 0, 100, 0), false);
  });

  test('an empty NAL unit becomes zeros between the others', () => {
    const muxer = muxerFor();
    muxer.begin(streamInfo, first);
    const nals = [nalOf(0x65, 30), Buffer.alloc(0), nalOf(0x65, 40)];
    assert.equal(splitNals(joinNals(nals)).length, 2);
    assert.ok(addVideo(muxer, joinNals(nals), 0));
    const [pes] = videoOf(demux(muxer.finish(null).bytes));
    assert.deepEqual(nalsIn(pes!.payload).slice(1), [nals[0]!.toString('hex'), nals[2]!.toString('hex')]);
  });
});
