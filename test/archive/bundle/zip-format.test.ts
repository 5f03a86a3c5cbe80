import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ExportedFile } from '../../../src/archive/bundle/exported-file.js';
import { RunningDigest } from '../../../src/archive/bundle/running-digest.js';
import { ZipContent } from '../../../src/archive/bundle/zip-content.js';
import { tempFolder } from '../../support/temp-folder.js';

const { signal } = new AbortController();
const GIGABYTE = 2 ** 30;

/** A file of any size, which nobody reads. */
const huge = (name: string, contentBytes: number) =>
  ({
    name,
    item: { cameraId: 'door', fromMs: 0, toMs: 1_000 },
    gaps: [],
    subtitles: null,
    clip: { contentBytes, etag: `"${name}"`, lastModifiedMs: 0, beginMs: 0, endMs: 1_000 },
    digest: async () => ({ sha256: 'a'.repeat(64), crc32: 0x01020304 }),
  }) as unknown as ExportedFile;

const listing = `
import json, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
print(json.dumps([[i.filename, i.file_size, i.header_offset, i.CRC, i.extract_version] for i in z.infolist()]))
z.open('a.mp4').read(3)
z.open('c.mp4').read(3)
print(z.read('SHA256SUMS').decode())
`;

test('members and places beyond 4 GB are found by others', async (t) => {
  const sizes = [5 * GIGABYTE, 10, 2 ** 32, 7] as const;
  const files = ['a.mp4', 'b.mp4', 'c.mp4', 'd.mp4'].map((name, index) => huge(name, sizes[index]!));
  const zip = new ZipContent(files, { madeBy: 'zoë', madeMs: Date.UTC(2026, 10, 21, 8, 30) });
  const path = join(tempFolder(t), 'huge.zip');
  // The files are holes: only what stands between them is written.
  const fd = openSync(path, 'w');
  let atByte = 0;
  for (const file of [...files, null]) {
    const head = 30 + (file === null ? 0 : file.name.length);
    const isLarge = file !== null && file.clip.contentBytes >= 2 ** 32 - 1;
    const endByte = file === null ? zip.contentBytes : atByte + head + (isLarge ? 20 : 0);
    for await (const piece of zip.read(atByte, endByte, signal)) {
      writeSync(fd, piece, 0, piece.length, atByte);
      atByte += piece.length;
    }
    assert.equal(atByte, endByte);
    if (file === null) break;
    atByte += file.clip.contentBytes;
    const behind = isLarge ? 24 : 16;
    for await (const piece of zip.read(atByte, atByte + behind, signal))
      writeSync(fd, piece, 0, piece.length, atByte);
    atByte += behind;
  }
  closeSync(fd);
  const out = execFileSync('/usr/bin/python3', ['-c', listing, path], { encoding: 'utf8' });
  const [first = '', ...sums] = out.split('\n');
  const listed = JSON.parse(first) as [string, number, number, number, number][];
  assert.deepEqual(
    listed.slice(0, 4).map(([name, size, , crc, version]) => [name, size, crc, version]),
    [
      ['a.mp4', sizes[0], 0x01020304, 45],
      ['b.mp4', sizes[1], 0x01020304, 45],
      ['c.mp4', sizes[2], 0x01020304, 45],
      ['d.mp4', sizes[3], 0x01020304, 45],
    ],
  );
  assert.ok(listed[1]![2] > 2 ** 32);
  assert.match(sums.join('\n'), /^a{64} {2}a\.mp4\n/);
  const manifest = execFileSync('unzip', ['-p', path, 'manifest.json'], { encoding: 'utf8' });
  assert.equal(JSON.parse(manifest).made_by, 'zoë');
});

test('a digest counts each byte once, in order, however the pieces come', () => {
  const content = Buffer.from('123456789');
  const digest = new RunningDigest(content.length);
  for (const [from, to] of [
    [3, 9],
    [0, 4],
    [1, 3],
    [2, 6],
    [8, 9],
    [6, 9],
    [0, 9],
  ] as const)
    digest.add(content.subarray(from, to), from);
  assert.deepEqual(digest.value, {
    sha256: '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225',
    // The check value of this CRC in every table of them.
    crc32: 0xcbf43926,
  });
});
