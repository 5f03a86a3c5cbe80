import assert from 'node:assert/strict';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { countBytesRead } from '../support/bytes-read.js';
import { tempFolder } from '../support/temp-folder.js';
import { CAMERA_ID, makeArchive, START_MS, textOf } from './filmed.js';
import { buildRecording, writeOpen } from './recording-file.js';
import { RecordingStudio } from './recording-studio.js';
import { encodeSource, SourceMovie } from './source-movie.js';

/** The beginning, and what has come since the last poll with the part before: a few pages each. */
const MOST_BYTES_A_POLL = 64 << 10;

test('a poll of an open file that nobody is known to write reads what is new alone', async (t) => {
  const { folder, recordings, playback } = makeArchive(t);
  const readBytes = countBytesRead(t);
  const options = { startMs: START_MS, fragments: 400, hasIndex: false };
  const { bytes, starts } = buildRecording(options);
  const fileName = writeOpen(folder, options, starts[4]);
  const polls: { list: number; playlist: number }[] = [];
  for (let fragment = 4; fragment < 400; fragment += 4) {
    readBytes();
    const [recording] = await recordings.list(CAMERA_ID);
    assert.equal(recording?.endMs, START_MS + fragment * 1000);
    const list = readBytes();
    await playback.archivePlaylist(CAMERA_ID, { fileName, session: null });
    polls.push({ list, playlist: readBytes() });
    appendFileSync(join(folder, fileName), bytes.subarray(starts[fragment], starts[fragment + 4]));
  }
  t.diagnostic(JSON.stringify([polls[0], polls.at(-1)]));
  for (const [poll, { list, playlist }] of polls.entries()) {
    assert.ok(list < MOST_BYTES_A_POLL, `the list read ${list} bytes at poll ${poll}`);
    assert.ok(playlist < MOST_BYTES_A_POLL, `the playlist read ${playlist} bytes at poll ${poll}`);
  }
});

test('a recorder tells how far its file is: polls read next to nothing, and no byte that may change', async (t) => {
  const archiveDir = tempFolder(t);
  const encoded = encodeSource(tempFolder(t), {
    codec: 'h264',
    seconds: 40,
    framesPerGop: 25,
    withAudio: true,
  });
  const source = new SourceMovie(encoded, START_MS);
  const studio = new RecordingStudio(archiveDir, 3600);
  const { folder, runner, recordings, playback } = makeArchive(t, { archiveDir, live: studio });
  const readBytes = countBytesRead(t);
  await studio.play(source, 2_000);
  const [fileName] = studio.open as [string];
  const later = buildRecording({ startMs: START_MS + 60_000, fragments: 4, hasIndex: false });
  const strange = later.bytes.subarray(later.starts[0]);
  let [lastEndMs, lastParts] = [0, 0];
  while (!source.isOver) {
    await studio.play(source, 2_000);
    // What is behind the last whole fragment counts for nothing, be it as whole as can be.
    appendFileSync(join(folder, fileName), strange);
    readBytes();
    const [recording] = await recordings.list(CAMERA_ID);
    const listBytes = readBytes();
    assert.ok(source.isOver || recording!.endMs > lastEndMs, 'it grows with each poll');
    assert.ok(recording!.endMs <= START_MS + source.nowMs, 'to no later than now');
    assert.ok(listBytes <= (lastEndMs === 0 ? 16_384 : 0), `the list read ${listBytes} bytes`);
    const text = textOf(await playback.archivePlaylist(CAMERA_ID, { fileName, session: null }));
    const playlistBytes = readBytes();
    assert.ok(playlistBytes < MOST_BYTES_A_POLL, `the playlist read ${playlistBytes} bytes`);
    const parts = text.match(/#EXTINF/g)!.length;
    assert.ok(parts >= lastParts && parts <= lastParts + 3, `${parts} parts after ${lastParts}`);
    [lastEndMs, lastParts] = [recording!.endMs, parts];
  }
  assert.ok(lastParts > 30);
  assert.equal(runner.countOf('inspectFiles'), 1, 'its beginning');
  await studio.finish();
  const [closed] = await recordings.list(CAMERA_ID);
  assert.deepEqual(readdirSync(folder), [closed!.fileName]);
  assert.equal(closed!.isOpen, false);
  assert.ok(Math.abs(closed!.endMs - lastEndMs) < 1_500);
});
