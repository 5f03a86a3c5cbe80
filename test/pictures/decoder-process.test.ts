import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { DecoderProcess } from '../../src/pictures/decoder-process.js';
import type { DecodeJob, DecodeOutcome } from '../../src/pictures/messages.js';
import { splitNals } from '../support/access-units.js';
import { joinAnnexB } from '../support/annex-b.js';
import type { VideoStream } from '../support/elementary-stream.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { seededRandom } from '../support/seeded-random.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { factsOf, psnrOf } from './likeness.js';

const decoderOf = (t: TestContext, ffmpegPath = 'ffmpeg'): DecoderProcess => {
  const decoder = new DecoderProcess(ffmpegPath, { clock: systemClock, log: createLogger(() => {}) });
  t.after(() => decoder.stop());
  return decoder;
};

/** A keyframe of a fixture, with its parameter sets. */
const jobOf = (
  stream: VideoStream,
  { key = 0, maxWidth = null }: { key?: number; maxWidth?: number | null } = {},
): DecodeJob => {
  const frame = stream.frames.filter(({ isKey }) => isKey)[key]!;
  const annexB = joinAnnexB([...stream.parameterSets, ...splitNals(frame.bytes)]);
  return { codec: stream.codec, maxWidth, annexB };
};

const jpegOf = (outcome: DecodeOutcome): Buffer => {
  if ('fault' in outcome) assert.fail(`${outcome.fault}: ${outcome.detail}`);
  return Buffer.from(outcome.jpeg);
};

const faultOf = (outcome: DecodeOutcome): string => ('fault' in outcome ? outcome.fault : 'none');

/** Encodes a moving picture with ffmpeg, and takes the keyframe that it begins with. */
const encoded = (folder: string, size: string, filter: string): DecodeJob => {
  const path = join(folder, 'encoded.264');
  const source = `testsrc2=size=${size}:rate=1:duration=1`;
  const encoder = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-vf', filter];
  execFileSync('ffmpeg', ['-v', 'error', '-y', '-f', 'lavfi', '-i', source, ...encoder, path]);
  return { codec: 'h264', maxWidth: null, annexB: readFileSync(path) };
};

const script = (folder: string, text: string): string => {
  const path = join(folder, 'ffmpeg');
  writeFileSync(path, `#!/bin/sh\n${text}\n`);
  chmodSync(path, 0o755);
  return path;
};

const isAlive = (pid: number): boolean => {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, 'utf8') : '';
  return stat !== '';
};

for (const [name, stream] of [
  ['h264-high.264', fixtures.h264High()],
  ['h265-main.265', fixtures.h265Main()],
] as const) {
  test(`the JPEG of a keyframe of ${name} is that picture and no other`, async (t) => {
    const decoder = decoderOf(t);
    const folder = tempFolder(t);
    for (const key of [0, 2]) {
      const jpeg = jpegOf(await decoder.decode(jobOf(stream, { key })));
      assert.equal(factsOf(jpeg), 'mjpeg,320,180,1:1');
      const own = psnrOf(folder, jpeg, fixturePath(name), key * 15);
      const other = psnrOf(folder, jpeg, fixturePath(name), key * 15 + 7);
      assert.ok(own > 32 && own > other + 6, `${own} dB to its own, ${other} dB to another`);
    }
  });
}

test('a width makes it smaller, never larger, and keeps its shape', async (t) => {
  const decoder = decoderOf(t);
  const folder = tempFolder(t);
  for (const [maxWidth, size] of [
    [160, '160,90'],
    [101, '101,57'],
    [16, '16,9'],
    [320, '320,180'],
    [3840, '320,180'],
  ] as const) {
    const jpeg = jpegOf(await decoder.decode(jobOf(fixtures.h264High(), { maxWidth })));
    assert.equal(factsOf(jpeg), `mjpeg,${size},1:1`);
    const like = psnrOf(folder, jpeg, fixturePath('h264-high.264'), 0, 'gbrp,format=gray');
    assert.ok(like > 32, `${size}: ${like} dB`);
  }
});

test('pixels that are not square are shown as they are meant', async (t) => {
  const decoder = decoderOf(t);
  const folder = tempFolder(t);
  const wide = encoded(folder, '320x240', 'setsar=4/3');
  assert.equal(factsOf(jpegOf(await decoder.decode(wide))), 'mjpeg,427,240,1:1');
  assert.equal(factsOf(jpegOf(await decoder.decode({ ...wide, maxWidth: 213 }))), 'mjpeg,213,120,1:1');
  const absurd = encoded(folder, '320x240', 'setsar=200/1');
  assert.equal(factsOf(jpegOf(await decoder.decode(absurd))), 'mjpeg,320,240,1:1');
});

test('a picture in the colours of HD looks as it did', async (t) => {
  const decoder = decoderOf(t);
  const folder = tempFolder(t);
  const filter =
    'scale=out_color_matrix=bt709,setparams=colorspace=bt709:color_primaries=bt709:color_trc=bt709';
  const jpeg = jpegOf(await decoder.decode(encoded(folder, '640x360', filter)));
  const like = psnrOf(folder, jpeg, join(folder, 'encoded.264'), 0);
  assert.ok(like > 32, `${like} dB`);
});

test('whatever a camera sends: a fault that is told, and the next picture is made', async (t) => {
  const decoder = decoderOf(t);
  const { annexB } = jobOf(fixtures.h264High());
  const random = seededRandom(7);
  const noise = Buffer.from(Array.from({ length: 50_000 }, () => Math.floor(random() * 256)));
  const cases: Record<string, Uint8Array> = {
    nothing: Buffer.alloc(0),
    zeros: Buffer.alloc(100_000),
    noise,
    'start codes': joinAnnexB(Array.from({ length: 5_000 }, () => Buffer.of(0x65))),
    'parameter sets alone': joinAnnexB(fixtures.h264High().parameterSets),
    'half of the parameter sets': joinAnnexB(
      fixtures.h264High().parameterSets.map((set) => set.subarray(0, 4)),
    ),
    'a playlist': Buffer.from('#EXTM3U\nfile:///etc/passwd\n'),
    'a list of files': Buffer.from("ffconcat version 1.0\nfile '/etc/passwd'\n"),
    'H.265': jobOf(fixtures.h265Main()).annexB,
  };
  for (const [name, bytes] of Object.entries(cases)) {
    const outcome = await decoder.decode({ codec: 'h264', maxWidth: null, annexB: bytes });
    assert.equal(faultOf(outcome), 'undecodable', name);
  }
  // A slice that is cut short, or damaged, may still show something: a whole JPEG or a fault, nothing between.
  for (let at = 60; at < annexB.length; at += 397) {
    const damaged = Buffer.from(annexB);
    noise.copy(damaged, at, 0, 40);
    for (const bytes of [damaged, annexB.subarray(0, at)]) {
      const outcome = await decoder.decode({ codec: 'h264', maxWidth: 64, annexB: bytes });
      if (!('fault' in outcome)) assert.match(factsOf(jpegOf(outcome)), /^mjpeg,64,36/);
    }
  }
  assert.equal(factsOf(jpegOf(await decoder.decode(jobOf(fixtures.h264High())))), 'mjpeg,320,180,1:1');
});

test('an ffmpeg that hangs is ended, with whatever it has started', async (t) => {
  const folder = tempFolder(t);
  const pidFile = join(folder, 'pid');
  const path = script(folder, `sleep 1000 & echo $! >${pidFile}; wait`);
  const decoder = decoderOf(t, path);
  const startMs = performance.now();
  const outcome = await decoder.decode(jobOf(fixtures.h264High()));
  assert.equal(faultOf(outcome), 'too_slow');
  assert.ok(performance.now() - startMs >= 9_900);
  const pid = Number(readFileSync(pidFile, 'utf8'));
  await until('it is gone', () => !isAlive(pid) || /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')));
});

test('an ffmpeg that writes for ever, or nothing, or no picture, is a fault', async (t) => {
  const folder = tempFolder(t);
  for (const [text, fault] of [
    ['exec cat /dev/zero', 'undecodable'],
    ['exit 0', 'undecodable'],
    ['echo no picture', 'undecodable'],
    ['kill -9 $$', 'undecodable'],
  ] as const) {
    assert.equal(
      faultOf(await decoderOf(t, script(folder, text)).decode(jobOf(fixtures.h264High()))),
      fault,
      text,
    );
  }
});

test('an ffmpeg that is not there is told of, and found as soon as it is', async (t) => {
  const folder = tempFolder(t);
  const path = join(folder, 'ffmpeg');
  const decoder = decoderOf(t, path);
  const job = jobOf(fixtures.h264High());
  assert.equal(faultOf(await decoder.decode(job)), 'missing');
  writeFileSync(path, 'not to be run');
  assert.equal(faultOf(await decoder.decode(job)), 'missing');
  execFileSync('rm', [path]);
  symlinkSync(execFileSync('which', ['ffmpeg'], { encoding: 'utf8' }).trim(), path);
  assert.equal(factsOf(jpegOf(await decoder.decode(job))), 'mjpeg,320,180,1:1');
});

test('ffmpeg yields to cameras, and sees nothing of the service’s settings', async (t) => {
  process.env['JWT_SECRET'] = 'a secret that nobody else needs to see';
  t.after(() => delete process.env['JWT_SECRET']);
  const folder = tempFolder(t);
  const said = join(folder, 'said');
  const decoder = decoderOf(t, script(folder, `(nice; env) >${said}`));
  await decoder.decode(jobOf(fixtures.h264High()));
  const [niceness, ...environment] = readFileSync(said, 'utf8').trim().split('\n');
  assert.ok(Number(niceness) >= 10);
  const names = environment
    .map((line) => line.split('=')[0]!)
    .filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name));
  assert.deepEqual(names.sort(), ['PATH']);
});

test('a process that is killed costs what it worked on, and nothing else; none is left behind', async (t) => {
  const folder = tempFolder(t);
  const pidFile = join(folder, 'pid');
  const slow = new DecoderProcess(script(folder, `echo $PPID >${pidFile}; exec sleep 1000`), {
    clock: systemClock,
    log: createLogger(() => {}),
  });
  const job = jobOf(fixtures.h264High());
  const lost = slow.decode(job);
  const pid = await until('it works', () => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')));
  process.kill(pid, 'SIGKILL');
  assert.equal(faultOf(await lost), 'unstartable');
  execFileSync('rm', [pidFile]);
  const next = slow.decode(job);
  const other = await until(
    'another works',
    () => existsSync(pidFile) && Number(readFileSync(pidFile, 'utf8')),
  );
  assert.notEqual(other, pid);
  await slow.stop();
  assert.equal(faultOf(await next), 'unstartable');
  assert.equal(isAlive(other), false);
  assert.equal(faultOf(await slow.decode(job)), 'unstartable');
});
