import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { readCounters } from '../../src/ring/counters.js';
import { type AnswerEdit, AnswerEditor } from '../support/answer-editor.js';
import { cleanTry } from '../support/clean-try.js';
import { cameraAt, Engine, FrameLog } from '../support/engine.js';
import { fixturePath, fixtures } from '../support/fixtures.js';
import { GstServer, remux } from '../support/gst-server.js';
import { cameToEnd, playedStretch } from '../support/played-stretch.js';
import { until } from '../support/until.js';

const folder = mkdtempSync(join(tmpdir(), 'framering-foreign-'));
const file = join(folder, 'av.mp4');
const FRAME_RATE_HZ = 15;
const video = 'd.video_0 ! queue ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1';
const audio = 'd.audio_0 ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97';

let server: GstServer;

before(async () => {
  remux(
    [
      { path: fixturePath('h264-high.264'), frameRateHz: FRAME_RATE_HZ },
      { path: fixturePath('aac-48k.aac') },
    ],
    file,
  );
  server = await GstServer.start({
    mounts: { '/av': `( filesrc location=${file} ! qtdemux name=d ${video} ${audio} )` },
  });
});

after(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const inSdp =
  (change: (sdp: string) => string): AnswerEdit =>
  ({ head, body }) => ({ head, body: body === '' ? '' : change(body) });

/** Adds a line to the first media. */
const toVideo = (sdp: string, line: string): string => sdp.replace(/(?=m=audio)/, `${line}\r\n`);

const withCseq =
  (line: string | null): AnswerEdit =>
  ({ head, body }) => ({
    head: head.flatMap((one) => (one.startsWith('CSeq') ? (line ?? []) : one)),
    body,
  });

const cases: readonly (readonly [name: string, edit: AnswerEdit, hasAudio: boolean])[] = [
  ['nothing changed', (answer) => answer, true],
  ['a video that says sendonly', inSdp((sdp) => toVideo(sdp, 'a=sendonly')), true],
  ['all that says sendonly', inSdp((sdp) => `${toVideo(sdp, 'a=sendonly')}a=sendonly\r\n`), true],
  [
    'H.264 behind other formats of the same media',
    inSdp((sdp) => sdp.replace('RTP/AVP 96', 'RTP/AVP 0 98 96')),
    true,
  ],
  ['CSeq 1 in every answer', withCseq('CSeq: 1'), true],
  ['no CSeq in any answer', withCseq(null), true],
];

/** Plays what the editor makes of the server, from start to end, and compares every access unit with the file. */
const plays = async (editor: AnswerEditor, transport: 'tcp' | 'udp', hasAudio: boolean) => {
  await using engine = new Engine();
  const url = `rtsp://127.0.0.1:${editor.port}/av`;
  engine.cameras.setAll([cameraAt('gst', url, { source: { url, transport } })]);
  const log = new FrameLog(engine.cameras, 'gst');
  const source = fixtures.h264High();
  await until('the whole stream has come', () => cameToEnd(log, source), {
    describe: () =>
      `${log.video.length} of ${source.frames.length}, ${editor.methods.join(' ')}, ${JSON.stringify(engine.records.slice(-3))}`,
  });
  log[Symbol.dispose]();
  playedStretch(log, source);
  assert.equal(log.audio.length > 50, hasAudio);
  return { records: engine.records, quirks: engine.cameras.get('gst')?.status().quirks };
};

for (const [name, edit, hasAudio] of cases) {
  for (const transport of ['tcp', 'udp'] as const) {
    test(`GStreamer's server over ${transport}: ${name}: every access unit comes`, async () => {
      await using editor = await AnswerEditor.start(server.port, edit);
      await plays(editor, transport, hasAudio);
    });
  }
}

test("GStreamer's server over TCP: each byte that it sent is counted, to the end of the session", async (t) => {
  const playAndRemove = async (): Promise<{ readonly counted: number; readonly sent: number }> => {
    await using editor = await AnswerEditor.start(server.port, (answer) => answer);
    await using engine = new Engine();
    const url = `rtsp://127.0.0.1:${editor.port}/av`;
    engine.cameras.setAll([cameraAt('gst', url)]);
    await engine.untilState('gst', 'streaming');
    const ring = engine.cameras.ring('gst');
    assert.ok(ring !== null);
    await until('it has sent something', () => editor.sentBytes > 100_000);
    engine.cameras.remove('gst');
    await engine.cameras.stop();
    assert.ok(editor.methods.includes('TEARDOWN'));
    const { receivedBytes: counted } = readCounters(ring);
    const { sentBytes: sent } = editor;
    assert.ok(counted <= sent, `${counted} of ${sent} bytes`);
    return { counted, sent };
  };
  // A server that stands still for longer than a goodbye is waited for speaks to nobody afterwards.
  await cleanTry(t, playAndRemove, ({ counted, sent }) => assert.equal(counted, sent));
});

test("GStreamer's server over UDP, whose video alone is blocked: every access unit comes over TCP", async () => {
  const blockVideo = (text: string): string =>
    /^SETUP \S+stream=0 /.test(text) ? text.replace(/client_port=\d+-\d+/, 'client_port=8-9') : text;
  await using editor = await AnswerEditor.start(server.port, (answer) => answer, blockVideo);
  const { records, quirks } = await plays(editor, 'udp', true);
  assert.ok(records.some(({ message }) => message.includes('no packet of video came over UDP')));
  assert.equal(editor.methods.filter((method) => method === 'DESCRIBE').length, 2);
  assert.deepEqual(quirks, ['silent_udp']);
});
