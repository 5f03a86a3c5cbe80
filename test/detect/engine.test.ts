import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemClock } from '../../src/base/clock.js';
import { EngineProcess } from '../../src/detect/engine-process.js';
import type { DetectJob, DetectOutcome, DetectResult } from '../../src/detect/messages.js';
import { logLines } from '../archive/log-lines.js';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { realData } from '../support/real-data.js';
import { tempFolder } from '../support/temp-folder.js';

type Picture = {
  readonly size: string;
  readonly box: string;
  readonly codec?: 'h264' | 'h265';
  readonly bFrames?: number;
};

/** A bright box on black, as a keyframe. */
const pictureOf = (folder: string, { size, box, codec = 'h264', bFrames = 0 }: Picture): DetectJob => {
  const path = join(folder, 'picture');
  const source = `color=black:size=${size}:rate=1:duration=1,drawbox=${box}:color=white:t=fill`;
  const encoder =
    codec === 'h264'
      ? ['-c:v', 'libx264', '-bf', String(bFrames), '-f', 'h264']
      : ['-c:v', 'libx265', '-x265-params', `log-level=0:bframes=${bFrames}`, '-f', 'hevc'];
  execFileSync('ffmpeg', [
    '-v',
    'error',
    '-y',
    '-f',
    'lavfi',
    '-i',
    source,
    '-pix_fmt',
    'yuv420p',
    ...encoder,
    path,
  ]);
  const [width = 0, height = 0] = size.split('x').map(Number);
  return { codec, width, height, reorders: bFrames > 0, annexB: readFileSync(path) };
};

const engineOf = (t: TestContext, ffmpegPath = 'ffmpeg') => {
  const { log, lines } = logLines();
  const engine = new EngineProcess(ffmpegPath, { clock: systemClock, log });
  t.after(() => engine.stop());
  return { engine, lines };
};

const seenIn = (outcome: DetectOutcome): DetectResult => {
  if ('fault' in outcome) assert.fail(`${outcome.fault}: ${outcome.detail}`);
  return outcome;
};

const assertBox = (outcome: DetectOutcome, expected: readonly number[], what: string): void => {
  const [object, ...others] = seenIn(outcome).objects;
  assert.equal(others.length, 0, what);
  assert.equal(object?.label, 'rectangle', what);
  for (const [index, value] of expected.entries())
    assert.ok(Math.abs(object.box[index]! - value) < 0.03, `${what}: ${object.box} is not ${expected}`);
};

const modelIn = (folder: string, description?: object): string => {
  const path = join(folder, 'bright.onnx');
  writeFileSync(path, brightRectangleModel(128));
  if (description !== undefined) writeFileSync(join(folder, 'bright.json'), JSON.stringify(description));
  return path;
};

test('objects are found where they are, whatever the picture’s codec, shape and order, each in its own', async (t) => {
  const folder = tempFolder(t);
  const model = modelIn(folder, { labels: ['rectangle'] });
  const { engine } = engineOf(t);
  const wide = pictureOf(folder, { size: '640x360', box: 'x=320:y=90:w=160:h=180' });
  const high = pictureOf(folder, { size: '180x320', box: 'x=0:y=240:w=90:h=80' });
  const dark = pictureOf(folder, { size: '640x360', box: 'x=700:y=0:w=10:h=10' });
  const other = pictureOf(folder, { size: '320x240', box: 'x=80:y=0:w=240:h=120', codec: 'h265' });
  const reordered = pictureOf(folder, { size: '320x240', box: 'x=80:y=120:w=80:h=60', bFrames: 3 });
  const outcomes = await Promise.all(
    [wide, high, other, dark, reordered, wide, high].map((job) => engine.detect(job, model)),
  );
  assertBox(outcomes[0]!, [0.5, 0.25, 0.25, 0.5], 'wide');
  assertBox(outcomes[1]!, [0, 0.75, 0.5, 0.25], 'high');
  assertBox(outcomes[2]!, [0.25, 0, 0.75, 0.5], 'H.265');
  assert.deepEqual(seenIn(outcomes[3]!).objects, [], 'nothing');
  assertBox(outcomes[4]!, [0.25, 0.5, 0.25, 0.25], 'with B-frames');
  assertBox(outcomes[5]!, [0.5, 0.25, 0.25, 0.5], 'wide again');
  assertBox(outcomes[6]!, [0, 0.75, 0.5, 0.25], 'high again');
  assert.equal(engine.decoderRestarts, 0);
  // A camera that sends two pictures as one: the second one is nobody else's.
  const double = { ...wide, annexB: Buffer.concat([wide.annexB, dark.annexB]) };
  for (let round = 0; round < 4; round++) {
    const [, next] = await Promise.all([double, high].map((job) => engine.detect(job, model)));
    assertBox(next!, [0, 0.75, 0.5, 0.25], 'behind two pictures in one');
  }
});

test('what dies is started anew: a decoder that a picture felled, the whole process, and nothing else', async (t) => {
  const folder = tempFolder(t);
  const model = modelIn(folder, { labels: ['rectangle'] });
  // Another program in the place of ffmpeg, which falls over what begins with an X.
  const fragile = join(folder, 'fragile');
  writeFileSync(fragile, `#!/bin/sh\nexec ${process.execPath} ${join(folder, 'fragile.cjs')} "$@"\n`);
  writeFileSync(
    join(folder, 'fragile.cjs'),
    `const { spawn } = require('node:child_process');
const real = spawn('ffmpeg', process.argv.slice(2), { stdio: ['pipe', 'inherit', 'inherit'] });
real.on('exit', () => process.exit(1));
process.stdin.on('data', (data) => (data.includes('XXXX') ? process.exit(3) : real.stdin.write(data)));
process.stdin.on('end', () => real.stdin.end());`,
  );
  chmodSync(fragile, 0o755);
  const { engine, lines } = engineOf(t, fragile);
  const good = pictureOf(folder, { size: '320x240', box: 'x=80:y=120:w=80:h=60' });
  const find = async (): Promise<void> =>
    assertBox(await engine.detect(good, model), [0.25, 0.5, 0.25, 0.25], 'it works');
  await find();
  const bad = await engine.detect({ ...good, annexB: Buffer.from('XXXX') }, model);
  assert.equal('fault' in bad && bad.fault, 'undecodable');
  await find();
  assert.equal(engine.decoderRestarts, 1);
  const under = engine.detect(good, model);
  engine.restart();
  const lost = await under;
  assert.equal('fault' in lost && lost.fault, 'engine_lost');
  await find();
  assert.equal(engine.decoderRestarts, 1);
  assert.equal(lines.length, 1);
});

test('what is missing or of no use is said: ffmpeg, the model, its description, its output', async (t) => {
  const folder = tempFolder(t);
  const job = pictureOf(folder, { size: '320x240', box: 'x=80:y=120:w=80:h=60' });
  const faultOf = async (model: string, ffmpegPath = 'ffmpeg'): Promise<string> => {
    const outcome = await engineOf(t, ffmpegPath).engine.detect(job, model);
    return 'fault' in outcome ? `${outcome.fault} ${outcome.detail}` : 'none';
  };
  const model = modelIn(folder);
  assert.match(await faultOf(model, join(folder, 'none')), /^ffmpeg_missing/);
  const text = join(folder, 'text.onnx');
  writeFileSync(text, 'no model');
  const { engine } = engineOf(t);
  const lost = await engine.detect(job, text);
  assert.ok('fault' in lost && lost.fault === 'model' && !lost.detail.includes(folder), 'no path of ours');
  writeFileSync(text, brightRectangleModel(128));
  assert.equal(seenIn(await engine.detect(job, text)).objects.length, 1, 'another file in its place');
  writeFileSync(join(folder, 'huge.onnx'), brightRectangleModel(8_192));
  assert.match(await faultOf(join(folder, 'huge.onnx')), /^model .*4096/);
  writeFileSync(join(folder, 'bright.json'), '{"output":"tea leaves"}');
  assert.match(await faultOf(model), /^model .*"output" must be one of yolox, yolov8, end2end/);
  writeFileSync(join(folder, 'bright.json'), '{"labels":["a"],"min_score":0.95}');
  assert.equal(await faultOf(model), 'none');
});

test('a real detector finds dog, car and bicycle', {
  skip: !existsSync(join(realData, 'models')),
}, async (t) => {
  const path = join(tempFolder(t), 'dog.264');
  const picture = ['-loop', '1', '-i', join(realData, 'pictures/dog.jpg'), '-frames:v', '1'];
  execFileSync('ffmpeg', [
    '-v',
    'error',
    '-y',
    ...picture,
    '-c:v',
    'libx264',
    '-bf',
    '0',
    '-pix_fmt',
    'yuv420p',
    path,
  ]);
  const job: DetectJob = {
    codec: 'h264',
    width: 768,
    height: 576,
    reorders: false,
    annexB: readFileSync(path),
  };
  const { engine } = engineOf(t);
  const { objects } = seenIn(await engine.detect(job, join(realData, 'models/yolox_nano.onnx')));
  for (const [label, left, top, right, bottom] of [
    ['dog', 133, 206, 324, 543],
    ['car', 467, 78, 693, 171],
    ['bicycle', 80, 133, 572, 428],
  ] as const) {
    const { box = [] } = objects.find((object) => object.label === label) ?? {};
    const [x = 0, y = 0, width = 0, height = 0] = box;
    const corners = [x * 768, y * 576, (x + width) * 768, (y + height) * 576];
    for (const [index, value] of [left, top, right, bottom].entries())
      assert.ok(Math.abs(corners[index]! - value) < 0.05 * 768, `${label}: ${corners}`);
  }
});
