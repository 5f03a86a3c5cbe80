import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { createFile, MP4BoxBuffer } from 'mp4box';
import { FileScanner } from '../../src/fmp4/file-scanner.js';
import { buildInitSegment, VIDEO_TRACK_ID } from '../../src/fmp4/init-segment.js';
import { PartTable } from '../../src/fmp4/part-table.js';
import { buildMfra, MFRO_BYTES, readMfra, readMfraBytes } from '../../src/fmp4/random-access.js';
import type { StartReason } from '../../src/fmp4/start-reason.js';
import { fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { decodedHashes, packetsOf, runQuietly } from './ffmpeg.js';
import { recordFile, samplesOf, scanFile, streamInfoOf } from './fragmented-file.js';

const PRFT_BYTES = 32;

/** A recording with B-frames and audio, and its parts as a walk finds them. */
const recording = () => {
  const [video, audio] = [fixtures.h264BFrames(), fixtures.aac()];
  const info = streamInfoOf(video, audio.track);
  const bare = recordFile(info, samplesOf(video, audio), { maxSamples: 30 });
  const plainHead = buildInitSegment(info);
  const head = buildInitSegment(info, { startReason: 'rollover' });
  const file = Buffer.concat([head, bare.subarray(plainHead.length)]);
  const { scanner } = scanFile(file);
  const parts = new PartTable();
  for (const { offsetBytes, wall, firstSamples, endSamples } of scanner.fragments) {
    const [columns, first] = [scanner.columns[0]!, firstSamples[0]!];
    if (first === endSamples[0] || columns.isKey[first] === 0) continue;
    const timeTicks = columns.dtsTicks[first]! + columns.compositionTicks[first]!;
    parts.add(timeTicks, offsetBytes + (wall === null ? 0 : PRFT_BYTES));
  }
  return { bare, file, parts, scanner };
};

const entriesOf = ({ count, timeTicks, moofOffset }: PartTable): [number, number][] =>
  Array.from({ length: count }, (_, index) => [timeTicks[index]!, moofOffset[index]!]);

/** The index at the end of a file, found as a reader finds it: from its last bytes. */
const indexOf = (file: Buffer): PartTable | null => {
  const mfraBytes = readMfraBytes(file.subarray(-MFRO_BYTES));
  return mfraBytes === 0 ? null : readMfra(file.subarray(-mfraBytes), VIDEO_TRACK_ID, file.length);
};

test('ffprobe, ffmpeg, mp4box and mediabunny read a closed file as they read it without index and reason', async (t) => {
  const { bare, file, parts } = recording();
  const closed = Buffer.concat([file, buildMfra(VIDEO_TRACK_ID, parts)]);
  const folder = tempFolder(t);
  const [path, barePath] = [join(folder, 'closed.mp4'), join(folder, 'bare.mp4')];
  writeFileSync(path, closed);
  writeFileSync(barePath, bare);
  for (const track of ['v', 'a'] as const) {
    assert.deepEqual(packetsOf(path, track), packetsOf(barePath, track));
    assert.deepEqual(decodedHashes(path, track), decodedHashes(barePath, track));
  }
  // Seeking is what the index is for: half a second back from the last part's picture is the part before.
  const seekSec = (parts.timeTicks[parts.count - 1]! / 90_000 - 0.2).toFixed(3);
  const args = ['-read_intervals', `${seekSec}%+#1`, '-select_streams', 'v', '-show_entries', 'packet=pts'];
  const [sought] = runQuietly('ffprobe', [...args, '-of', 'csv=p=0', path]).split('\n');
  assert.equal(Number(sought), parts.timeTicks[parts.count - 2]);

  const boxes = createFile();
  boxes.appendBuffer(MP4BoxBuffer.fromArrayBuffer(new Uint8Array(closed).buffer, 0));
  boxes.flush();
  const types = boxes.boxes.map(({ type }) => type);
  assert.equal(types.at(-1), 'mfra');
  assert.ok(types.every((type) => ['ftyp', 'moov', 'prft', 'moof', 'mdat', 'mfra'].includes(type ?? '')));

  using input = new Input({ source: new BufferSource(new Uint8Array(closed)), formats: ALL_FORMATS });
  const track = await input.getPrimaryVideoTrack();
  let packets = 0;
  for await (const packet of new EncodedPacketSink(track!).packets())
    packets += packet.data.length > 0 ? 1 : 0;
  assert.equal(packets, fixtures.h264BFrames().frames.length);
});

test('the reason comes back, and what is no reason of ours is none', () => {
  const info = streamInfoOf(fixtures.h264High(), null);
  const reasonOf = (head: Buffer) => scanFile(head).scanner.movie!.startReason;
  assert.equal(reasonOf(buildInitSegment(info)), null);
  const reasons: readonly StartReason[] = ['start', 'rollover', 'format', 'camera_away', 'disk'];
  for (const startReason of reasons)
    assert.equal(reasonOf(buildInitSegment(info, { startReason })), startReason);
  const head = buildInitSegment(info, { startReason: 'start' });
  const box = head.indexOf('uuid');
  for (let at = box + 4; at < head.length; at += 1) {
    const damaged = Buffer.from(head);
    damaged[at] = damaged[at]! ^ 0x10;
    // Versions and flags are not looked at.
    if (at < box + 20 || at >= box + 24) assert.equal(reasonOf(damaged), null, String(at - box));
  }
});

test('any table is read back; any cut or damage of it is no table, or one within the file', () => {
  const entry = fc.tuple(fc.integer({ min: 0, max: 2 ** 40 }), fc.integer({ min: 1, max: 2 ** 40 }));
  fc.assert(
    fc.property(
      fc.array(entry, { minLength: 1, maxLength: 300 }),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      (list, where, flip) => {
        const parts = new PartTable();
        let offset = 0;
        for (const [timeTicks, step] of list) {
          offset += step;
          parts.add(timeTicks, offset);
        }
        const mfra = buildMfra(VIDEO_TRACK_ID, parts);
        const fileBytes = offset + 100 + mfra.length;
        assert.equal(readMfraBytes(mfra), mfra.length);
        assert.deepEqual(entriesOf(readMfra(mfra, VIDEO_TRACK_ID, fileBytes)!), entriesOf(parts));
        assert.equal(readMfra(mfra, VIDEO_TRACK_ID + 1, fileBytes), null);
        assert.equal(readMfra(mfra, VIDEO_TRACK_ID, offset + mfra.length), null, 'an offset past the media');
        assert.equal(readMfra(mfra.subarray(0, where % mfra.length), VIDEO_TRACK_ID, fileBytes), null);
        const damaged = Buffer.from(mfra);
        const at = where % mfra.length;
        damaged[at] = damaged[at]! ^ flip;
        const read = readMfra(damaged, VIDEO_TRACK_ID, fileBytes);
        for (const [, moofOffset] of read === null ? [] : entriesOf(read)) {
          assert.ok(moofOffset > 0 && moofOffset < fileBytes);
        }
      },
    ),
  );
});

test('a table with brief fields, as other muxers write it, is read too', () => {
  const mfra = Buffer.from(
    [
      '0000003b6d667261', // mfra
      '0000002374667261', // tfra, version 0
      '0000000000000001', // track 1
      '0000002a00000001', // numbers of 3 bytes each, one entry
      '00015f9000001000', // time, offset
      '000001000001000001',
      '000000106d66726f000000000000003b', // mfro
    ].join(''),
    'hex',
  );
  mfra.writeUInt32BE(12 + 12 + 8 + 9, 8);
  mfra.writeUInt32BE(mfra.length, 0);
  mfra.writeUInt32BE(mfra.length, mfra.length - 4);
  assert.deepEqual(entriesOf(readMfra(mfra, 1, 0x2000)!), [[90_000, 0x1000]]);
});

test('a part is scanned alone: the same samples, and nothing else is read', () => {
  const { file, parts, scanner: whole } = recording();
  const closed = Buffer.concat([file, buildMfra(VIDEO_TRACK_ID, parts)]);
  const found = indexOf(closed)!;
  assert.deepEqual(entriesOf(found), entriesOf(parts));
  const samples = (scanner: FileScanner, track: number): number[][] => {
    const columns = scanner.columns[track]!;
    return Array.from({ length: columns.count }, (_, index) => [
      columns.offsetBytes[index]!,
      columns.sizeBytes[index]!,
      columns.dtsTicks[index]!,
    ]);
  };
  const scanner = new FileScanner(closed.length);
  scanner.skipTo(5000);
  assert.equal(scanner.wanted?.offset, 0, 'not before moov is read');
  scanner.feed(closed.subarray(0, 4096));
  const seen: number[][][] = [[], []];
  // Last part first: skipping goes back as well.
  for (let part = found.count - 1; part >= 0; part -= 1) {
    const start = found.moofOffset[part]! - PRFT_BYTES;
    const end = part + 1 < found.count ? found.moofOffset[part + 1]! - PRFT_BYTES : file.length;
    const alone = new FileScanner(end);
    alone.feed(closed.subarray(0, Math.min(end, 4096)));
    alone.skipTo(start);
    scanFile(closed.subarray(0, end), alone);
    assert.equal(alone.wholeBytes, end);
    assert.equal(alone.fragments[0]?.offsetBytes, start);
    for (const track of [0, 1]) seen[track]!.unshift(...samples(alone, track));
    scanner.skipTo(start);
    assert.deepEqual(scanner.wanted?.offset, start);
    assert.equal(scanner.fragments.length, 0);
  }
  for (const track of [0, 1]) assert.deepEqual(seen[track], samples(whole, track));
});
