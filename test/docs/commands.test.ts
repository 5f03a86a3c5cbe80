import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { encodeVideo } from '../e2e/recording-service.js';
import { FakeCamera } from '../support/fake-camera/fake-camera.js';
import { FakeDevice } from '../support/onvif/fake-device.js';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

/** Players that people see something in: here they play one second of it, or fail. */
const PLAYER = `#!/bin/bash
for last; do :; done
case "$last" in rtsp://*) tcp="-rtsp_transport tcp" ;; esac
exec ffmpeg -nostdin -v error $tcp -i "$last" -t 1 -f null -
`;
/** An answer that is an error is one, and is shown. */
const CURL = `#!/bin/bash
exec /usr/bin/curl --fail-with-body --max-time 60 "$@"
`;

const replaced = (text: string, changes: readonly (readonly [from: string, to: string])[]): string => {
  let result = text;
  for (const [from, to] of changes) {
    assert.ok(result.includes(from), `nobody is told ${from}`);
    result = result.replaceAll(from, to);
  }
  return result;
};

test('whoever types the commands of README and guide one after the other gets what they say', async (t) => {
  const folder = tempFolder(t);
  const video = encodeVideo(folder, 1, 10);
  const camera = await FakeCamera.start({ mounts: { '/stream1': { video }, '/stream2': { video } } });
  t.after(() => camera[Symbol.asyncDispose]());
  const device = await FakeDevice.start({
    ...{ prefix: 's', auth: 'token', media: ['media'], faultStatus: 400, user: 'user', password: 'password' },
    streams: [{ token: 'main', codec: 'H264', width: 160, height: 120, uri: camera.url('/stream1') }],
  });
  t.after(() => device.stop());
  const data = join(folder, 'data');
  const env = { DATA_DIR: data, RTSP_PORT: '0', ONVIF_DEVICE: 'hidden', RECORD_FILE_SECONDS: '5' };
  const service = await startService(env);
  t.after(() => service.process.kill('SIGKILL'));
  const rtsp = /"rtsp_url":"(rtsp:[^"]+)"/.exec(service.out())?.[1] ?? '';
  assert.notEqual(rtsp, '', service.out());
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const [name, text] of [
    ['ffplay', PLAYER],
    ['vlc', PLAYER],
    ['curl', CURL],
  ] as const) {
    writeFileSync(join(bin, name), text);
    chmodSync(join(bin, name), 0o755);
  }
  const pages: readonly string[] = JSON.parse(readFileSync('src/docs/guide/contents.json', 'utf8'));
  const blocks = ['README.md', ...pages.map((name) => `src/docs/guide/${name}.md`)].flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, text]) => text!),
  );
  assert.ok(blocks.length >= 14, String(blocks.length));
  // A user that the README takes for granted, and the time that a camera takes to be recorded.
  const wait = (what: string, condition: string): string =>
    `for try in $(seq 240); do ${condition} && break; [ $try = 240 ] && { echo 'never: ${what}' >&2; exit 1; }; sleep 0.25; done\n`;
  const isRecorded =
    '[ "$(curl -s $URL/api/cameras/door/archive -H "authorization: Bearer $TOKEN" | jq length)" -ge 2 ]';
  const script = replaced(blocks.join('\n'), [
    ["PASSWORD='the printed one'", `PASSWORD='${service.adminPassword}'`],
    ['http://localhost:8080', service.url],
    ['rtsp://user:password@192.168.1.20/stream1', camera.url('/stream1')],
    ['rtsp://user:password@192.168.1.20/stream2', camera.url('/stream2')],
    ['rtsp://localhost:8554', rtsp.replace(/\/$/, '')],
    [
      'rtsp://viewer:password@localhost:8554',
      rtsp.replace(/\/$/, '').replace('rtsp://', 'rtsp://viewer:password@'),
    ],
    ['"192.168.1.20"', `"${device.address}"`],
    ['-t 60 minute.mkv', '-t 2 minute.mkv'],
    [
      '# The recordings, the newest of them',
      `curl -s $URL/api/users -H "authorization: Bearer $TOKEN" -H "$json" -d '{"username":"viewer","password":"password","role":"viewer"}'
${wait('two recordings', isRecorded)}# The recordings, the newest of them`,
    ],
    [
      'ffplay "$URL/stream/hls/door/index.m3u8?stream=sub',
      `${wait('the sub-stream', 'curl -s "$URL/stream/hls/door/index.m3u8?stream=sub&token=$(stream_token door)" >sub.m3u8')}ffplay "$URL/stream/hls/door/index.m3u8?stream=sub`,
    ],
    // Nobody answers there: that is what is told, with an error's status or without.
    [
      '/test" -H "authorization: Bearer $TOKEN" | jq',
      '/test" -H "authorization: Bearer $TOKEN" | jq || true',
    ],
  ]);
  writeFileSync(join(folder, 'commands.sh'), `set -e -u -o pipefail\n${script}\necho all of it was run\n`);
  const shell = spawn('bash', ['commands.sh'], {
    cwd: folder,
    env: { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: folder, LC_ALL: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  t.after(() => {
    try {
      process.kill(-shell.pid!, 'SIGKILL');
    } catch {
      // It has ended, and all that it began.
    }
  });
  let out = '';
  for (const stream of [shell.stdout, shell.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
  const [code] = await once(shell, 'close');
  assert.equal(code, 0, out.slice(-4_000));
  assert.match(out, /all of it was run/);
  assert.match(out, /"state": "(?:connecting|streaming)"/);
  assert.match(out, /^whsec_/m);
  assert.match(out, /[}\n]door\n/, 'a key that is limited to the folder sees its camera');
  const backup = join(folder, 'backup.json');
  assert.equal(statSync(backup).mode & 0o777, 0o600);
  assert.equal(JSON.parse(readFileSync(backup, 'utf8')).cameras.length, 1);
  await until(
    'the service is as well as before',
    async () => (await service.call('GET', '/livez')).status === 200,
  );
  assert.equal(await service.stop(), 0);
});
