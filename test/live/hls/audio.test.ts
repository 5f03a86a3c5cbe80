import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import type { AudioTrackInfo } from '../../../src/codec/track.js';
import { demux } from '../../mpegts/demuxer.js';
import type { AudioStream } from '../../support/elementary-stream.js';
import { fixtures } from '../../support/fixtures.js';
import { FIRST, fileBytes, HlsCamera, makeHls, viewer } from './hls-camera.js';

const SAMPLES = 960;

/** Frames of 20 ms that no decoder is asked to play. */
const opusStream = (): AudioStream => {
  const clockRateHz = 48_000;
  const track: AudioTrackInfo = {
    codec: 'opus',
    clockRateHz,
    channels: 1,
    config: new Uint8Array(0),
    codecString: 'opus',
  };
  const frames = Array.from({ length: 200 }, (_, index) => ({
    bytes: Buffer.alloc(60, index),
    isKey: true,
    ptsTicks: index * SAMPLES,
    dtsTicks: index * SAMPLES,
  }));
  return { kind: 'audio', track, clockRateHz, durationTicks: clockRateHz * 4, frames };
};

const pcmOf = (input: Buffer, format: readonly string[]): Buffer => {
  const args = ['-v', 'error', ...format, '-i', '-', '-map', '0:a', '-f', 's16le', '-'];
  const { stdout, stderr } = spawnSync('ffmpeg', args, { input });
  assert.equal(`${stderr}`, '');
  return stdout;
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
  const { init, mp4, ts } = await outputsWith(opusStream());
  assert.ok(init.includes('Opus'));
  assert.ok(mp4.includes(Buffer.alloc(60, 50)), 'the second second is there');
  assert.deepEqual([demux(ts).streams.size, demux(ts).pes.length], [1, 30]);
});

test('G.711 goes into fMP4 as FLAC, sample by sample, and is left out of MPEG-TS', async () => {
  for (const [audio, format] of [
    [fixtures.pcmu(), 'mulaw'],
    [fixtures.pcma(), 'alaw'],
  ] as const) {
    const { init, mp4, ts } = await outputsWith(audio);
    assert.ok(init.includes('fLaC') && init.includes('dfLa'));
    const heard = pcmOf(Buffer.concat([init, mp4]), ['-f', 'mp4']);
    const sent = Buffer.concat(audio.frames.map(({ bytes }) => bytes));
    const meant = pcmOf(sent, ['-f', format, '-ar', '8000']);
    // The segment ends before the sound does, at the end of a block.
    assert.ok(heard.length > 1.8 * 16_000, `${heard.length} bytes of sound`);
    assert.ok(heard.equals(meant.subarray(0, heard.length)));
    assert.equal(demux(ts).pes.length, 30);
  }
});
