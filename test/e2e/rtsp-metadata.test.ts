import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { modern } from '../analytics/documents.js';
import { fixtures } from '../support/fixtures.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { run, startRtspOut } from './rtsp-out.js';

const script = join(import.meta.dirname, '../../../test/support/gst-documents.py');

const END = '</tt:MetadataStream>';

/** Says its number, and where it stands; of two packets. */
const documentOf = (number: number, atMs: number): string =>
  modern(
    atMs,
    Array.from({ length: 8 }, (_, i) => ({ id: `${number}-${i}`, box: [0.1, 0.1, 0.2, 0.2] as const })),
  );

/** The service, with a camera that tells what it sees ten times a second; what it told. */
const setUp = async (t: Parameters<typeof startRtspOut>[0]) => {
  const out = await startRtspOut(t, { gate: { video: fixtures.h264Baseline(), hasMetadata: true } });
  const told: string[] = [];
  const telling = setInterval(() => {
    const atMs = Date.now() - 200;
    const xml = documentOf(told.length, atMs);
    told.push(xml);
    out.camera.sendMetadata(xml, { wallMs: atMs, packetBytes: 700 });
  }, 100);
  t.after(() => clearInterval(telling));
  return { ...out, told };
};

/** The whole documents in what came. */
const documentsIn = (text: string): string[] =>
  text
    .split(END)
    .slice(0, -1)
    .map((document) => document + END);

const assertTold = (came: readonly string[], told: readonly string[]): void => {
  assert.ok(came.length > 10, `${came.length} documents`);
  const first = told.indexOf(came[0]!);
  assert.ok(first >= 0, came[0]);
  assert.deepEqual(came, told.slice(first, first + came.length), 'each of them, as it was told');
};

for (const transport of ['tcp', 'udp'] as const)
  test(`ffmpeg over ${transport} gets each document as the camera sent it, beside every picture`, async (t) => {
    const { url, told } = await setUp(t);
    const folder = tempFolder(t);
    const input = ['-rtsp_transport', transport, '-t', '4', '-i', `${url}/gate`];
    const documents = ['-map', '0:d', '-c', 'copy', '-f', 'data', 'pipe:1'];
    const video = ['-map', '0:v', '-c', 'copy', '-y', join(folder, 'video.mp4')];
    const { code, out, err } = await run('ffmpeg', [
      '-nostdin',
      '-v',
      'error',
      ...input,
      ...documents,
      ...video,
    ]);
    assert.equal(code, 0, err);
    assertTold(documentsIn(out), told);
    const probe = [
      '-v',
      'error',
      '-count_packets',
      '-show_entries',
      'stream=nb_read_packets',
      '-of',
      'csv=p=0',
    ];
    const { stdout } = await promisify(execFile)('ffprobe', [...probe, join(folder, 'video.mp4')]);
    assert.ok(Number(stdout) > 30, stdout);
  });

for (const transport of ['tcp', 'udp'] as const)
  test(`GStreamer over ${transport} knows the track for what it is, and gets its documents`, async (t) => {
    const { url, told } = await setUp(t);
    // Debian's GStreamer bindings belong to Debian's Python.
    const { code, out, err } = await run('/usr/bin/python3', [script, `${url}/gate`, transport, '40']);
    assert.equal(code, 0, err);
    assertTold(documentsIn(out), told);
  });

test('another service takes it as it takes a camera’s own', async (t) => {
  const { url, told, call } = await setUp(t);
  const second = await startRtspOut(t, {});
  await second.call('POST', '/api/cameras', { id: 'yard', url: `${url}/gate` });
  const labels = async (of: typeof call): Promise<string[]> =>
    (await of('GET', '/api/events?type=detection')).body.map(({ label }: { label: string }) => label);
  await until('it is an event there too', async () => (await labels(second.call)).includes('person'));
  assert.ok(told.length > 0);
  await until('it is one here', async () => (await labels(call)).length > 0);
});
