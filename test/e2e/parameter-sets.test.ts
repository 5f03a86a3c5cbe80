import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { decodedHashes, packetsOf, sourceHashes } from '../fmp4/ffmpeg.js';
import { accessUnitHash, splitNals } from '../support/access-units.js';
import { alternating } from '../support/alternating.js';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

const startCode = Buffer.of(0, 0, 0, 1);
/** What a camera sent, as a file for ffmpeg. */
const annexB = (frames: readonly { readonly bytes: Buffer }[]): Buffer =>
  Buffer.concat(frames.flatMap(({ bytes }) => splitNals(bytes).flatMap((nal) => [startCode, nal])));

const streams = {
  'H.264': alternating(fixtures.h264High(), fixtures.h264OtherPps()),
  'H.265': alternating(fixtures.h265Main(), fixtures.h265OtherPps()),
};

for (const [name, video] of Object.entries(streams)) {
  test(`${name} with another PPS each second is one file from the first change on, and each of its pictures is exact`, async (t) => {
    const archiveDir = tempFolder(t);
    await using camera = await FakeCamera.start({ mounts: { '/cam0': { video } } });
    const engine = new Engine('auto', { archiveDir, fileSeconds: 3600 });
    engine.cameras.setAll([cameraAt('cam', camera.url(), { isRecorded: true })]);
    using log = new FrameLog(engine.cameras, 'cam');
    await until('five GOPs are there', () => log.video.filter(({ isKey }) => isKey).length > 5, {
      deadlineMs: 30_000,
    });
    await engine[Symbol.asyncDispose]();
    const files = readdirSync(join(archiveDir, 'cam'));
    // One more at the first change: what was before has no sets of its own, and would be taken for what follows.
    assert.equal(files.length, 2, files.join());
    const recordings = files.toSorted().map((file) => join(archiveDir, 'cam', file));
    const sent = camera.sent.filter(({ kind }) => kind === 'video');
    const source = join(archiveDir, `source.${video.codec}`);
    writeFileSync(source, annexB(sent));
    const pictures = recordings.flatMap((recording) => decodedHashes(recording, 'v'));
    assert.ok(pictures.length > 75, `${pictures.length} pictures`);
    assert.deepEqual(pictures, sourceHashes(source, 'v').slice(0, pictures.length));
    assert.equal(packetsOf(recordings[1]!, 'v').length, pictures.length - 15);
    // Every viewer is told of each change, and of none where there is none.
    const told = log.video.filter(({ info }, at) => at > 0 && info !== log.video[at - 1]!.info);
    assert.ok(told.length >= 5 && told.every(({ isKey }) => isKey));
    assert.deepEqual(
      log.video.map(({ hash }) => hash),
      sent.slice(0, log.video.length).map(({ bytes }) => accessUnitHash(video.codec, bytes)),
    );
  });
}
