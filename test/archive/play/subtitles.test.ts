import assert from 'node:assert/strict';
import { test } from 'node:test';
import { appendDetections } from '../../../src/archive/detections/append-detections.js';
import { encodeRecord, type KeptDetection } from '../../../src/archive/detections/detection-record.js';
import { openName } from '../../../src/archive/files/file-name.js';
import { sidecarName } from '../../../src/archive/files/sidecar-name.js';
import { fixtures } from '../../support/fixtures.js';
import { looped } from '../../support/looped.js';
import { parseWebVtt } from '../../support/webvtt.js';
import { CAMERA_ID, film, makeArchive, START_MS, textOf } from '../filmed.js';

const seen = (wallMs: number, label: string): KeptDetection => ({
  ...{ wallMs, source: 'model' },
  objects: label === '' ? [] : [{ label, score: 0.75, box: [0.1, 0.2, 0.3, 0.4], zone: 'door' }],
});

/** What was seen while the recording of this start was made. */
const see = (archiveDir: string, startMs: number, detections: readonly KeptDetection[]): void => {
  const records = Buffer.concat(detections.map(encodeRecord));
  const sidecar = sidecarName(startMs);
  const append = { cameraId: CAMERA_ID, sidecar, knownBytes: null, isNew: true, records, isLast: true };
  assert.ok('fileBytes' in appendDetections({ archiveDir, appends: [append] })[0]!);
};

/** A playlist without what its entries name. */
const shapeOf = (playlist: string): string[] =>
  playlist
    .split('\n')
    .map((line) => (line.startsWith('#') ? line : line.replace(/^(segment\.ts|subs\.vtt)/, 'x')));

const cuesOf = (text: string): (readonly [from: number, to: number, label: string])[] =>
  parseWebVtt(text).cues.map(({ startTime, endTime, text: json }) => [
    Math.round(startTime * 1_000),
    Math.round(endTime * 1_000),
    JSON.parse(json).objects[0].label,
  ]);

test('each segment has a file of what was seen, in the words of live subtitles, and what holds from before', async (t) => {
  const { archiveDir, subtitles, playback, putClosed } = makeArchive(t);
  const session = 'a b';
  const fileName = putClosed(film({ video: fixtures.h264High(), audio: fixtures.aac() }));
  const at = (ms: number, label: string) => seen(START_MS + ms, label);
  see(archiveDir, START_MS, [at(0, 'person'), at(1_250, 'car'), at(2_500, ''), at(3_900, 'dog')]);
  const pictures = textOf(await playback.archivePlaylist(CAMERA_ID, { fileName, session }));
  const playlist = textOf(await subtitles.archiveSubtitles(CAMERA_ID, { fileName, session }));
  assert.deepEqual(shapeOf(playlist), shapeOf(pictures), 'the same numbers and times');
  assert.match(playlist, /\nsubs\.vtt\?file=.*&seq=3&session=a%20b\n#EXT-X-ENDLIST/);
  const files = await Promise.all(
    [0, 1, 2, 3].map((seq) => subtitles.segmentSubtitles(CAMERA_ID, { fileName, seq })),
  );
  assert.deepEqual(files.map(cuesOf), [
    [[0, 1_000, 'person']],
    [
      [0, 250, 'person'],
      [250, 1_000, 'car'],
    ],
    [[0, 500, 'car']],
    [[900, 1_000, 'dog']],
  ]);
  const [, cue = ''] = /900 --> .*\n(.*)\n/.exec(files[3]!) ?? [];
  const t0 = new Date(START_MS + 3_900).toISOString();
  const objects = [{ label: 'dog', score: 0.75, box: [0.1, 0.2, 0.3, 0.4] }];
  assert.deepEqual(JSON.parse(cue), { t: t0, source: 'model', objects });
  for (const [seq, text] of files.entries())
    assert.match(
      text,
      new RegExp(`^WEBVTT\\nX-TIMESTAMP-MAP=LOCAL:00:00:00\\.000,MPEGTS:${900_000 + seq * 90_000}\\n\\n`),
    );
  await assert.rejects(subtitles.segmentSubtitles(CAMERA_ID, { fileName, seq: 4 }), { code: 'bad_seq' });
});

test('what was seen at the end of a file holds into the next one of a range; borders stand where those of pictures do', async (t) => {
  const { archiveDir, subtitles, playback, putClosed } = makeArchive(t);
  const video = fixtures.h264High();
  putClosed(film({ video }));
  const later = START_MS + 4_000;
  const next = putClosed(film({ video, startMs: later }));
  see(archiveDir, START_MS, [seen(START_MS + 3_900, 'dog')]);
  const wanted = { fromMs: START_MS + 2_000, toMs: START_MS + 7_000, session: null };
  const playlist = textOf(await subtitles.rangeSubtitles(CAMERA_ID, wanted));
  assert.deepEqual(shapeOf(playlist), shapeOf(textOf(await playback.rangePlaylist(CAMERA_ID, wanted))));
  const text = await subtitles.segmentSubtitles(CAMERA_ID, { fileName: next, seq: 0 });
  assert.deepEqual(cuesOf(text), [[0, 1_000, 'dog']]);
});

test('of a file that is being written the subtitles are listed once it is known what is in the pictures', async (t) => {
  const { subtitles, playback, putOpen } = makeArchive(t);
  const filmed = film({ video: looped(fixtures.h264High(), 3), hasIndex: false });
  const fileName = putOpen(filmed, filmed.parts[2]!.endBytes);
  await assert.rejects(subtitles.archiveSubtitles(CAMERA_ID, { fileName, session: null }), {
    code: 'recording_not_ready',
  });
  putOpen(filmed, filmed.parts[9]!.endBytes);
  const entries = (text: string): number => text.match(/#EXTINF/g)?.length ?? 0;
  const wanted = { fileName: openName(START_MS), session: null };
  assert.equal(entries(textOf(await playback.archivePlaylist(CAMERA_ID, wanted))), 9);
  const growing = textOf(await subtitles.archiveSubtitles(CAMERA_ID, wanted));
  assert.equal(entries(growing), 4);
  assert.match(growing, /#EXT-X-PLAYLIST-TYPE:EVENT/);
});

test('the master says what is in the recordings, and hands on the session', async (t) => {
  const { subtitles, putClosed } = makeArchive(t);
  const fileName = putClosed(film({ video: fixtures.h264High(), audio: fixtures.aac() }));
  const filmed = film({ video: fixtures.h265Main(), startMs: START_MS + 10_000 });
  putClosed(filmed);
  const single = await subtitles.archiveMaster(CAMERA_ID, { fileName, session: 'a&b' });
  const [, bandwidth] = /\n#EXT-X-STREAM-INF:BANDWIDTH=(\d+),/.exec(single) ?? [];
  assert.ok(Number(bandwidth) > 10_000, single);
  assert.match(single, /CODECS="avc1\.64[^,]*,mp4a\.40\.2",RESOLUTION=320x180,SUBTITLES="subs"\n/);
  const query = new URLSearchParams({ file: fileName, session: 'a&b' });
  assert.ok(single.endsWith(`\narchive.m3u8?${query}\n`), single);
  assert.ok(single.includes(`URI="archive-subs.m3u8?${query}"`), single);
  const range = { fromMs: START_MS, toMs: START_MS + 60_000, session: null };
  const both = await subtitles.rangeMaster(CAMERA_ID, range);
  assert.match(both, /CODECS="avc1\.[^"]*,hvc1\.[^"]*"/);
  assert.match(both, /\nrange\.m3u8\?from=2026-11-21T/);
});
