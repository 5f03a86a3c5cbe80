import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AudioTrackInfo } from '../../../src/codec/track.js';
import { demux } from '../../mpegts/demuxer.js';
import type { AudioStream } from '../../support/elementary-stream.js';
import { fixtures } from '../../support/fixtures.js';
import { FIRST, fileBytes, HlsCamera, makeHls, viewer } from './hls-camera.js';

const SAMPLES = 960;

/** Frames of 20 ms that no decoder is asked to play. */
const streamOf = (codec: 'opus' | 'pcmu', clockRateHz: number): AudioStream => {
  const track: AudioTrackInfo = {
    codec,
    clockRateHz,
    channels: 1,
    config: new Uint8Array(0),
    codecString: codec,
  };
  const frames = Array.from({ length: 200 }, (_, index) => ({
    bytes: Buffer.alloc(60, index),
    isKey: true,
    ptsTicks: (index * SAMPLES * clockRateHz) / 48_000,
    dtsTicks: (index * SAMPLES * clockRateHz) / 48_000,
  }));
  return { kind: 'audio', track, clockRateHz, durationTicks: clockRateHz * 4, frames };
};

const outputsWith = async (audio: AudioStream): Promise<{ init: Buffer; mp4: Buffer; ts: Buffer }> => {
  const { clock, cameras, hls } = makeHls();
  const camera = new HlsCamera(clock, fixtures.h264High(), audio);
  cameras.set('door', camera);
  const first = hls.video('door', viewer);
  camera.play(5);
  await first;
  const read = async (name: string) => await fileBytes(hls, name);
  const outputs = {
    init: await read(`init_${FIRST}.mp4`),
    mp4: await read(`segment_${FIRST}.m4s`),
    ts: await read(`segment_${FIRST}.ts`),
  };
  hls.stop();
  return outputs;
};

test('Opus goes into fMP4 and is left out of MPEG-TS; the video goes on', async () => {
  const { init, mp4, ts } = await outputsWith(streamOf('opus', 48_000));
  assert.ok(init.includes('Opus'));
  assert.ok(mp4.includes(Buffer.alloc(60, 50)), 'the second second is there');
  assert.deepEqual([demux(ts).streams.size, demux(ts).pes.length], [1, 30]);
});

test('G.711 is left out of both; the video goes on', async () => {
  const { init, mp4, ts } = await outputsWith(streamOf('pcmu', 8_000));
  assert.ok(!init.includes('soun'));
  assert.ok(!mp4.includes(Buffer.alloc(60, 50)));
  assert.equal(demux(ts).pes.length, 30);
});
