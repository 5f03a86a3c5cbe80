import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SegmentMuxerOptions } from '../../src/mpegts/segment-muxer.js';
import type { Browser } from '../support/browser/browser.js';
import { launchChromium } from '../support/browser/chromium.js';
import { assertShows, decodePictures } from '../support/browser/decoded-pictures.js';
import { type HlsStats, playHls } from '../support/browser/hls-player.js';
import type { AudioStream, VideoStream } from '../support/elementary-stream.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { looped } from '../support/looped.js';
import { earlyTicks, muxAll } from './mux.js';

const FRAME_SECONDS = 1 / 15;
const TURNS = 2;

/** Puts segments and the playlist that a server would write of them where the browser finds them. */
const publish = (
  browser: Browser,
  name: string,
  video: VideoStream,
  audio: AudioStream | null,
  continuity: SegmentMuxerOptions['continuity'],
): string => {
  const segments = muxAll(video, audio, continuity);
  const lines = segments.flatMap(({ bytes, durationTicks }, index) => {
    browser.server.add(`${name}/segment_${index}.ts`, bytes);
    return [`#EXTINF:${(durationTicks / 90_000).toFixed(6)},`, `segment_${index}.ts`];
  });
  const head = ['#EXTM3U', '#EXT-X-VERSION:6', '#EXT-X-TARGETDURATION:1', '#EXT-X-PLAYLIST-TYPE:VOD'];
  const text = [...head, ...lines, '#EXT-X-ENDLIST', ''].join('\n');
  return browser.server.add(`${name}/stream.m3u8`, text);
};

/** No hole, no stall, no error: all that hls.js has loaded is one stretch. */
const assertWhole = (stats: HlsStats): void => {
  assert.deepEqual([stats.fatalErrors, stats.minorErrors], [[], []]);
  assert.equal(stats.buffered.length, 1, JSON.stringify(stats.buffered));
  assert.deepEqual([stats.videoWidth, stats.videoHeight], [320, 180]);
};

describe('hls.js in Chromium', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  const cases = [
    { name: 'H.264 with AAC', video: fixtures.h264High, audio: fixtures.aac, raw: 'h264-high.264' },
    {
      name: 'H.264 with B-frames and AAC',
      video: fixtures.h264BFrames,
      audio: fixtures.aac,
      raw: 'h264-bframes.264',
    },
  ] as const;
  for (const { name, video, audio, raw } of cases) {
    for (const continuity of ['carried', 'standalone'] as const) {
      test(`${name}, ${continuity}: plays to the end and seeks, every picture in its place`, async () => {
        const url = publish(
          browser,
          `${raw}-${continuity}`,
          looped(video(), TURNS),
          looped(audio(), TURNS),
          continuity,
        );
        await using player = await playHls(browser, url);
        await player.play(4);
        const atEnd = await player.until(
          'it has ended',
          ({ isEnded, fatalErrors }) => isEnded || fatalErrors.length > 0,
        );
        assertWhole(atEnd);
        assert.equal(atEnd.fragmentsLoaded, 4 * TURNS);
        // hls.js begins at the first decode time, FFmpeg at the first picture.
        const firstSeconds = earlyTicks(video()) / 90_000;
        const [start, end] = atEnd.buffered[0]!;
        assert.ok(
          Math.abs(start - firstSeconds) < 0.01 && end > 4 * TURNS + firstSeconds - 0.01,
          `${start} ${end}`,
        );
        const pictures = decodePictures(fixturePath(raw));
        for (const index of [0, 59, 60, 119, 1, 30]) {
          await player.seek(firstSeconds + (index + 0.5) * FRAME_SECONDS);
          await assertShows(player, pictures, index % pictures.length);
        }
        assertWhole(await player.stats());
        assert.deepEqual(player.errors, []);
      });
    }
  }
});
