import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodedHashes } from '../../fmp4/ffmpeg.js';
import { fixtures } from '../../support/fixtures.js';
import { CAMERA_ID, film, makeArchive } from '../filmed.js';

const cases = {
  'H.264 with AAC': { video: fixtures.h264High, audio: fixtures.aac },
  'H.264 with B-frames': { video: fixtures.h264BFrames, audio: () => null },
  'H.265': { video: fixtures.h265Main, audio: () => null },
} as const;

const PICTURES_A_GOP = 15;

/** The hash of the first picture that FFmpeg shows of these bytes. */
const firstPicture = (bytes: Buffer): string => {
  const args = ['-v', 'quiet', '-i', 'pipe:0', '-map', '0:v:0', '-frames:v', '1', '-f', 'framemd5', '-'];
  const { stdout } = spawnSync('ffmpeg', args, { input: bytes, encoding: 'utf8' });
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  assert.equal(lines.length, 1);
  return lines[0]!.split(',').at(-1)!.trim();
};

type Range = { readonly start: number; readonly end: number };

const rangeIn = (text: string): Range => {
  const [length = 0, start = 0] = text.split('@').map(Number);
  return { start, end: start + length };
};

for (const [name, { video, audio }] of Object.entries(cases)) {
  test(`${name}: each listed range is one keyframe, in its time`, async (t) => {
    const { keyFrames, putClosed, folder } = makeArchive(t);
    const filmed = film({ video: video(), audio: audio() });
    const fileName = putClosed(filmed);
    const playlist = await keyFrames.keyFramePlaylist(CAMERA_ID, { fileName, session: 's&1' });
    const lines = playlist.toString().split('\n');
    assert.ok(lines.includes('#EXT-X-I-FRAMES-ONLY') && lines.includes('#EXT-X-ENDLIST'));
    const address = `recording.mp4?file=${fileName}&session=s%261`;
    assert.equal(lines.filter((line) => line === address).length, filmed.parts.length);
    const valuesOf = (tag: string): string[] =>
      lines.filter((line) => line.startsWith(`${tag}:`)).map((line) => line.slice(tag.length + 1));
    const map = /^URI="(.*)",BYTERANGE="(.*)"$/.exec(valuesOf('#EXT-X-MAP')[0]!)!;
    assert.equal(map[1], address);
    assert.deepEqual(new Set(valuesOf('#EXTINF')), new Set(['1.000000,']));
    const content = await keyFrames.content(CAMERA_ID, { fileName });
    assert.equal(content.contentBytes, filmed.bytes.length);
    const read = async ({ start, end }: Range): Promise<Buffer> => {
      const pieces: Buffer[] = [];
      for await (const piece of content.read(start, end)) pieces.push(piece);
      return Buffer.concat(pieces);
    };
    assert.ok((await read({ start: 0, end: filmed.bytes.length })).equals(filmed.bytes));
    const head = await read(rangeIn(map[2]!));
    const pictures = decodedHashes(join(folder, fileName), 'v');
    for (const [part, text] of valuesOf('#EXT-X-BYTERANGE').entries()) {
      const range = rangeIn(text);
      const { startBytes, endBytes } = filmed.parts[part]!;
      assert.ok(range.start >= startBytes && range.end < endBytes, `${text} in ${startBytes} to ${endBytes}`);
      assert.equal(firstPicture(Buffer.concat([head, await read(range)])), pictures[part * PICTURES_A_GOP]);
    }
  });
}

test('of a file that is being written the whole parts are listed, and the new ones alone are looked at', async (t) => {
  const { keyFrames, putOpen, runner } = makeArchive(t);
  const filmed = film({ video: fixtures.h264High(), hasIndex: false });
  const fileName = putOpen(filmed, filmed.parts[2]!.endBytes);
  const ask = async (): Promise<string> =>
    (await keyFrames.keyFramePlaylist(CAMERA_ID, { fileName, session: null })).toString();
  const first = await ask();
  assert.equal(first.match(/BYTERANGE:/g)?.length, 2);
  assert.match(first, /PLAYLIST-TYPE:EVENT\n#EXT-X-TARGETDURATION:10\n/);
  assert.doesNotMatch(first, /ENDLIST/);
  putOpen(filmed);
  const second = await ask();
  assert.equal(second.match(/BYTERANGE:/g)?.length, 3);
  assert.ok(second.startsWith(first));
  assert.equal(await ask(), second);
  assert.equal(runner.countOf('keyFrameEnds'), 2);
  const looked = runner.inputs.filter(
    (input) => (input as { startBytes?: unknown }).startBytes instanceof Float64Array,
  );
  assert.deepEqual(
    looked.map((input) => (input as { startBytes: Float64Array }).startBytes.length),
    [2, 1],
  );
});

test('names lead nowhere else', async (t) => {
  const { keyFrames } = makeArchive(t);
  for (const fileName of ['../secret.mp4', '', 'x.mp4']) {
    await assert.rejects(keyFrames.content(CAMERA_ID, { fileName }), { code: 'bad_file_name' });
    await assert.rejects(keyFrames.keyFramePlaylist(CAMERA_ID, { fileName, session: null }), {
      code: 'bad_file_name',
    });
  }
});
