import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SegmentFacts } from '../../src/mpegts/segment-facts.js';
import { START_OFFSET_TICKS } from '../../src/mpegts/timestamp.js';
import type { Browser } from '../support/browser/browser.js';
import { launchChromium } from '../support/browser/chromium.js';
import { assertShows, decodePictures } from '../support/browser/decoded-pictures.js';
import { launchFirefox } from '../support/browser/firefox.js';
import { assertNoErrors, assertWhole, playHls, playToEnd } from '../support/browser/hls-player.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { looped } from '../support/looped.js';
import { earlyTicks, muxAll } from './mux.js';

const FRAME_SECONDS = 1 / 15;
const TURNS = 2;

type Publication = { readonly name: string; readonly segments: readonly SegmentFacts[] };

/**
 * Puts segments and the playlist that a server would write of them where the browser finds them; between the
 * first ones and `next` there is a discontinuity.
 */
const publish = (
  browser: Browser,
  { name, segments }: Publication,
  next: readonly SegmentFacts[] = [],
): string => {
  const lines = [...segments, ...next].flatMap(({ bytes, durationTicks }, index) => {
    browser.server.add(`${name}/segment_${index}.ts`, bytes);
    const entry = [`#EXTINF:${(durationTicks / 90_000).toFixed(6)},`, `segment_${index}.ts`];
    return index === segments.length ? ['#EXT-X-DISCONTINUITY', ...entry] : entry;
  });
  const head = ['#EXTM3U', '#EXT-X-VERSION:6', '#EXT-X-TARGETDURATION:1', '#EXT-X-PLAYLIST-TYPE:VOD'];
  return browser.server.add(`${name}/stream.m3u8`, [...head, ...lines, '#EXT-X-ENDLIST', ''].join('\n'));
};

describe('hls.js in Chromium', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser.close());

  const cases = [
    { name: 'H.264 with AAC', video: fixtures.h264High, raw: 'h264-high.264', continuity: 'carried' },
    {
      name: 'H.264 with B-frames and AAC',
      video: fixtures.h264BFrames,
      raw: 'h264-bframes.264',
      continuity: 'standalone',
    },
  ] as const;
  for (const { name, video, raw, continuity } of cases) {
    test(`${name}, ${continuity}: plays to the end and seeks, every picture in its place`, async () => {
      const segments = muxAll(looped(video(), TURNS), looped(fixtures.aac(), TURNS), continuity);
      const url = publish(browser, { name: raw, segments });
      await using player = await playHls(browser, url, { autoplay: false });
      const atEnd = await playToEnd(player);
      const [start, end] = assertWhole(atEnd);
      assert.deepEqual([atEnd.videoWidth, atEnd.videoHeight], [320, 180]);
      assert.equal(atEnd.fragmentsLoaded, 4 * TURNS);
      const firstSeconds = earlyTicks(video()) / 90_000;
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

  test('a seek to where nothing is loaded yet finds its picture', async () => {
    const turns = 12;
    const segments = muxAll(
      looped(fixtures.h264BFrames(), turns),
      looped(fixtures.aac(), turns),
      'standalone',
    );
    const url = publish(browser, { name: 'far', segments });
    await using player = await playHls(browser, url, { autoplay: false, bufferSeconds: 2 });
    await player.until('the first picture is there', ({ readyState }) => readyState >= 2);
    const pictures = decodePictures(fixturePath('h264-bframes.264'));
    const firstSeconds = earlyTicks(fixtures.h264BFrames()) / 90_000;
    // Not the very last one: by the playlist the end is before it, as much as the stream is held back.
    for (const index of [350, 710, 100, 0]) {
      await player.seek(firstSeconds + (index + 0.5) * FRAME_SECONDS);
      await assertShows(player, pictures, index % pictures.length);
    }
    const stats = await player.stats();
    assertNoErrors(stats);
    const { fragmentsLoaded } = stats;
    assert.ok(fragmentsLoaded < segments.length / 2, `${fragmentsLoaded} segments were loaded`);
  });

  test('time goes on over the 33-bit wrap', async () => {
    const wrapSeconds = Math.floor((2 ** 33 - START_OFFSET_TICKS) / 90_000) - 2;
    const segments = muxAll(fixtures.h264High(), fixtures.aac(), 'standalone', wrapSeconds);
    await using player = await playHls(browser, publish(browser, { name: 'wrap', segments }), {
      autoplay: false,
    });
    assertWhole(await playToEnd(player));
    const pictures = decodePictures(fixturePath('h264-high.264'));
    for (const index of [0, 29, 30, 59]) {
      await player.seek((index + 0.5) * FRAME_SECONDS);
      await assertShows(player, pictures, index);
    }
  });

  test('after a discontinuity another camera may go on: other times, another size, no audio', async () => {
    const first = muxAll(fixtures.h264High(), fixtures.aac(), 'carried', 5000);
    const next = muxAll(fixtures.h264Large(), null, 'carried', 70);
    const url = publish(browser, { name: 'discontinuity', segments: first }, next);
    await using player = await playHls(browser, url, { autoplay: false });
    await player.play(4);
    const stats = await player.until('it has ended', ({ isEnded, error }) => isEnded || error !== null);
    assertNoErrors(stats);
    assert.deepEqual([stats.videoWidth, stats.videoHeight], [640, 360]);
    await player.seek(5 + 7.5 * FRAME_SECONDS);
    await assertShows(player, decodePictures(fixturePath('h264-large.264')), 22);
    await player.seek(2 + 0.5 * FRAME_SECONDS);
    await assertShows(player, decodePictures(fixturePath('h264-high.264')), 30);
  });
});

describe('hls.js in Firefox', () => {
  let browser: Browser;
  before(async () => {
    browser = await launchFirefox();
  });
  after(() => browser.close());

  test('H.265 with AAC plays to the end and seeks', async () => {
    const segments = muxAll(looped(fixtures.h265Main(), TURNS), looped(fixtures.aac(), TURNS), 'standalone');
    await using player = await playHls(browser, publish(browser, { name: 'h265', segments }), {
      autoplay: false,
    });
    assertWhole(await playToEnd(player));
    const pictures = decodePictures(fixturePath('h265-main.265'));
    for (const index of [0, 59, 60, 119, 1, 30]) {
      await player.seek((index + 0.5) * FRAME_SECONDS);
      await assertShows(player, pictures, index % pictures.length);
    }
  });
});
