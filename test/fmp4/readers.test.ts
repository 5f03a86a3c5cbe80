import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';
import { fixtures } from '../support/fixtures.js';
import { recordFile, samplesOf, streamInfoOf } from './fragmented-file.js';
import { exportWhole } from './plain-export.js';
import { type ReadTrack, readWithMediabunny, readWithMp4Box } from './third-party-readers.js';

const cases: Readonly<
  Record<string, { video: () => VideoStream; audio: () => AudioStream | null; codec: string }>
> = {
  'H.264 with AAC': { video: fixtures.h264High, audio: fixtures.aac, codec: 'avc1.64000c' },
  'H.264 Baseline': { video: fixtures.h264Baseline, audio: () => null, codec: 'avc1.42c00c' },
  'H.264 with B-frames and AAC': {
    video: fixtures.h264BFrames,
    audio: fixtures.aac,
    codec: 'avc1.64000c',
  },
  'H.265 with AAC': { video: fixtures.h265Main, audio: fixtures.aac, codec: 'hvc1.1.6.l60.90' },
};

/** Times to the microsecond: readers count in seconds. */
const microseconds = ({ samples }: ReadTrack) =>
  samples.map(({ seconds, ...rest }) => ({ us: Math.round(seconds * 1e6), ...rest }));

/** What was recorded, with all times later by as much. */
const expectedOf = (samples: ReturnType<typeof samplesOf>, track: 0 | 1, hz: number, laterTicks = 0) =>
  samples
    .filter((sample) => sample.track === track)
    .map(({ ptsTicks, bytes, isKey }) => ({
      us: Math.round(((ptsTicks + laterTicks) / hz) * 1e6),
      sizeBytes: bytes.length,
      isKey,
    }));

for (const [name, { video, audio, codec }] of Object.entries(cases)) {
  const samples = samplesOf(video(), audio());
  const info = streamInfoOf(video(), audio()?.track ?? null);
  const fragmented = recordFile(info, samples, { maxSamples: 25 });
  const plain = exportWhole(fragmented);
  /** How much after its decode time the first picture is shown. */
  const holdTicks = samples[0]!.ptsTicks;

  const assertTracks = (tracks: readonly ReadTrack[], laterTicks: number): void => {
    assert.equal(tracks.length, audio() === null ? 1 : 2);
    const [seenVideo, seenAudio] = tracks;
    // mediabunny has one name for hvc1 and hev1.
    assert.equal(seenVideo!.codec.toLowerCase().replace('hev1', 'hvc1'), codec);
    assert.deepEqual([seenVideo!.width, seenVideo!.height], [320, 180]);
    assert.deepEqual(microseconds(seenVideo!), expectedOf(samples, 0, 90_000, laterTicks));
    if (seenAudio === undefined) return;
    assert.equal(seenAudio.codec, 'mp4a.40.2');
  };

  test(`${name}: mp4box.js reads every sample of both kinds of file`, () => {
    const recorded = readWithMp4Box(fragmented);
    assert.equal(recorded.isFragmented, true);
    assertTracks(recorded.tracks, 0);
    const exported = readWithMp4Box(plain);
    assert.equal(exported.isFragmented, false);
    assertTracks(exported.tracks, 0);
    if (audio() === null) return;
    const { clockRateHz } = audio()!;
    for (const { tracks } of [recorded, exported]) {
      assert.deepEqual(microseconds(tracks[1]!), expectedOf(samples, 1, clockRateHz));
    }
  });

  test(`${name}: mediabunny reads every packet of both kinds of file`, async () => {
    const recorded = await readWithMediabunny(fragmented);
    assertTracks(recorded, 0);
    const exported = await readWithMediabunny(plain);
    // The edit list puts the first picture to 0.
    assertTracks(exported, -holdTicks);
    if (audio() === null) return;
    const { clockRateHz } = audio()!;
    const early = (holdTicks / 90_000) * clockRateHz;
    assert.deepEqual(microseconds(recorded[1]!), expectedOf(samples, 1, clockRateHz));
    assert.deepEqual(microseconds(exported[1]!), expectedOf(samples, 1, clockRateHz, -early));
  });
}
