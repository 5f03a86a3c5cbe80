import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readCounters } from '../../src/ring/counters.js';
import { hashOf } from '../support/access-units.js';
import { readVideoStream, type VideoStream } from '../support/elementary-stream.js';
import { cameraAt, Engine, FrameLog, type SeenFrame } from '../support/engine.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { GstServer, remux } from '../support/gst-server.js';
import { cameToEnd, playedStretch } from '../support/played-stretch.js';
import { until } from '../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'framering-gst-'));
const inFolder = (name: string): string => join(folder, name);
const FRAME_RATE_HZ = 15;
const FRAME_TICKS = 90_000 / FRAME_RATE_HZ;

const h264Pay = 'h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1';
const h265Pay = 'h265parse ! rtph265pay name=pay0 pt=96 config-interval=-1';
const mounts = {
  '/h264': `( filesrc location=${inFolder('h264.mp4')} ! qtdemux ! ${h264Pay} )`,
  '/h265': `( filesrc location=${inFolder('h265.mp4')} ! qtdemux ! ${h265Pay} )`,
  '/bframes': `( filesrc location=${inFolder('bframes.mp4')} ! qtdemux ! ${h264Pay} )`,
  '/av': `( filesrc location=${inFolder('av.mp4')} ! qtdemux name=d d.video_0 ! queue ! ${h264Pay} d.audio_0 ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97 )`,
};

let server: GstServer;
let secured: GstServer;

before(async () => {
  const high = { path: fixturePath('h264-high.264'), frameRateHz: FRAME_RATE_HZ };
  remux([high], inFolder('h264.mp4'));
  remux([{ path: fixturePath('h265-main.265'), frameRateHz: FRAME_RATE_HZ }], inFolder('h265.mp4'));
  remux([high, { path: fixturePath('aac-48k.aac') }], inFolder('av.mp4'));
  // A raw stream doesn't say when B-frames are shown, so this one is made here, times and all.
  const source = `testsrc2=size=320x180:rate=${FRAME_RATE_HZ}:duration=3`;
  const x264 = [
    '-c:v',
    'libx264',
    '-threads',
    '1',
    '-g',
    '15',
    '-bf',
    '3',
    '-x264-params',
    'b-pyramid=normal:b-adapt=0',
  ];
  execFileSync('ffmpeg', [
    '-nostdin',
    '-v',
    'error',
    '-f',
    'lavfi',
    '-i',
    source,
    ...x264,
    inFolder('bframes.mp4'),
  ]);
  execFileSync('ffmpeg', [
    '-nostdin',
    '-v',
    'error',
    '-i',
    inFolder('bframes.mp4'),
    '-c',
    'copy',
    inFolder('bframes.264'),
  ]);
  server = await GstServer.start({ mounts });
  secured = await GstServer.start({ mounts, auth: { scheme: 'digest', user: 'user', password: 'p@ss:1' } });
});

after(async () => {
  await server[Symbol.asyncDispose]();
  await secured[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

type Played = { readonly frames: readonly SeenFrame[]; readonly audio: readonly SeenFrame[] };

/** Plays a mount from start to end and compares every access unit in the ring with the file. */
const plays = async (url: string, source: VideoStream, transport: 'tcp' | 'udp'): Promise<Played> => {
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('gst', url, { source: { url, transport } })]);
  const log = new FrameLog(engine.cameras, 'gst');
  await until('the whole stream has come', () => cameToEnd(log, source), {
    describe: () =>
      `${log.video.length} of ${source.frames.length} frames, ${JSON.stringify(engine.records.slice(-3))}`,
  });
  log[Symbol.dispose]();
  const frames = playedStretch(log, source);
  const { videoFrames } = readCounters(engine.cameras.ring('gst')!);
  assert.ok(videoFrames >= source.frames.length, `${videoFrames} frames went into the ring`);
  assert.ok(log.video.every((frame) => !frame.damaged));
  assert.equal(log.droppedFrames, 0);
  return { frames, audio: log.audio };
};

/** Frames are evenly spaced by the sender's clock, which is exact to a tick or so. */
const assertEvenTimes = (frames: readonly SeenFrame[]): void => {
  const times = frames.map((frame) => frame.ptsTicks);
  for (let index = 1; index < times.length; index++) {
    const step = times[index]! - times[index - 1]!;
    assert.ok(Math.abs(step - FRAME_TICKS) <= 2, `frame ${index} comes ${step} ticks after the one before`);
  }
};

for (const transport of ['tcp', 'udp'] as const) {
  test(`H.264 over ${transport}: every access unit as in the file`, async () => {
    const { frames } = await plays(`rtsp://127.0.0.1:${server.port}/h264`, fixtures.h264High(), transport);
    const { info } = frames[0]!;
    assert.equal(info?.video.codec, 'h264');
    assert.deepEqual([info?.video.width, info?.video.height], [320, 180]);
    assertEvenTimes(frames);
  });

  test(`H.265 over ${transport}: every access unit as in the file`, async () => {
    const { frames } = await plays(`rtsp://127.0.0.1:${server.port}/h265`, fixtures.h265Main(), transport);
    const { info } = frames[0]!;
    assert.equal(info?.video.codec, 'h265');
    assert.match(info?.video.codecString ?? '', /^hvc1\.1\./);
    assertEvenTimes(frames);
  });
}

test('B-frames: decode order kept, decode times rise, no frame is shown before it is decoded', async () => {
  const source = readVideoStream(inFolder('bframes.264'), { codec: 'h264', frameRateHz: FRAME_RATE_HZ });
  const { frames } = await plays(`rtsp://127.0.0.1:${server.port}/bframes`, source, 'tcp');
  assert.ok(
    frames.some((frame, index) => index > 0 && frame.ptsTicks < frames[index - 1]!.ptsTicks),
    'pts go back',
  );
  for (const [index, frame] of frames.entries()) {
    assert.ok(
      frame.dtsTicks <= frame.ptsTicks,
      `frame ${index} is shown ${frame.ptsTicks} before ${frame.dtsTicks}`,
    );
    if (index > 0) assert.ok(frame.dtsTicks > frames[index - 1]!.dtsTicks);
  }
});

test('H.264 with AAC: both tracks whole', async () => {
  const url = `rtsp://127.0.0.1:${server.port}/av`;
  const { frames, audio } = await plays(url, fixtures.h264High(), 'tcp');
  const { frames: sentFrames, durationTicks, clockRateHz } = fixtures.aac();
  const sent = sentFrames.map((frame) => hashOf(frame.bytes));
  const seen = audio.map((frame) => frame.hash);
  const heardSeconds = (seen.length / sent.length) * (durationTicks / clockRateHz);
  assert.ok(heardSeconds > frames.length / FRAME_RATE_HZ - 1, `${heardSeconds} s beside ${frames.length}`);
  // A reader begins with a keyframe and this log ends with the last frame: it holds one stretch of the file.
  const first = sent.indexOf(seen[0]!);
  assert.deepEqual(seen, sent.slice(first, first + seen.length));
  const { info } = audio[0]!;
  assert.equal(info?.audio?.codec, 'aac');
  assert.equal(info?.audio?.clockRateHz, 48_000);
});

test('digest: the right password plays, with its special characters raw or encoded', async () => {
  for (const login of ['user:p%40ss%3A1', 'user:p@ss:1']) {
    await plays(`rtsp://${login}@127.0.0.1:${secured.port}/h264`, fixtures.h264High(), 'tcp');
  }
});

test('digest: a wrong password is an error that says so, and never shows it', async () => {
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('gst', `rtsp://user:hunter2@127.0.0.1:${secured.port}/h264`)]);
  await engine.untilState('gst', 'error');
  const { lastError } = engine.cameras.get('gst')!.status();
  assert.match(lastError, /user name|password|credentials/i);
  assert.doesNotMatch(lastError + JSON.stringify(engine.records), /hunter2/);
});

test('a path that is not there is an error that says so', async () => {
  await using engine = new Engine();
  engine.cameras.setAll([cameraAt('gst', `rtsp://127.0.0.1:${server.port}/nowhere`)]);
  await engine.untilState('gst', 'error');
  assert.match(engine.cameras.get('gst')!.status().lastError, /no such stream|not found|404/i);
});
