import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';

const command = join(import.meta.dirname, '../../src/import/main.js');

type Run = { readonly status: number | null; readonly out: string };

/** Runs the command; a password that shows anywhere fails the test. */
const run = (args: readonly string[], token = ''): Promise<Run> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'] ?? '', FRAMERING_TOKEN: token };
    const child = execFile(process.execPath, [command, ...args], { env }, (_, stdout, stderr) => {
      const out = stdout + stderr;
      assert.doesNotMatch(out, /canary/);
      if (token !== '') assert.ok(!out.includes(token));
      resolve({ status: child.exitCode, out });
    });
  });

const HALL = 'rtsp://127.0.0.1:9/a?user=u&pwd=canary&channel=1';
const FILE = `
pathDefaults: { sourceOnDemand: yes }
paths:
  door: { source: 'rtsp://u:canary@127.0.0.1:9/a' }
  gate: { source: 'rtsp://127.0.0.1:9/a?channel=1&password=canary' }
  hall: { source: '${HALL}', record: yes, recordDeleteAfter: 2d }
  'rtsp://u:canary@127.0.0.1/b': { source: 'rtsp://127.0.0.1:9/user=u_password=canary_channel=1_stream=0.sdp' }
`;

test('cameras are made in a service, a refused one is told with its reason and stops none', async (t) => {
  const folder = tempFolder(t);
  const file = join(folder, 'mediamtx.yml');
  writeFileSync(file, FILE);
  const service = await startService({ DATA_DIR: join(folder, 'data') });
  t.after(() => service.process.kill('SIGKILL'));
  const token = await service.login('admin', service.adminPassword);
  const there = { id: 'gate', url: 'rtsp://127.0.0.1:9/other', on_demand: true };
  const { body: refusal, status } = await service
    .call('POST', '/api/cameras', { token, body: there })
    .then(() => service.call('POST', '/api/cameras', { token, body: there }));
  assert.equal(status, 409);

  const shown = await run([file]);
  assert.equal(shown.status, 0);
  assert.match(shown.out, /channel=1/);
  const wrong = await run([file, '--apply', '--server', service.url], 'wrong.token.here');
  assert.equal(wrong.status, 2);
  assert.match(wrong.out, /^nothing was imported: .*token/m);
  assert.doesNotMatch(wrong.out, /door/);

  const mixed = await run([file, '--apply', '--server', service.url], token);
  assert.equal(mixed.status, 1, mixed.out);
  assert.deepEqual(mixed.out.trim().split('\n'), [
    'door: made',
    `gate: refused: ${refusal.detail}`,
    'hall: made',
    'rtsp: made',
  ]);
  const { body: hall } = await service.call('GET', '/api/cameras/hall', { token });
  assert.deepEqual([hall.url, hall.record, hall.retention_days], [HALL, true, 2]);

  writeFileSync(file, 'streams: { yard: "rtsp://127.0.0.1:9/yard" }');
  const made = await run([file, '--apply', '--server', service.url], token);
  assert.deepEqual([made.status, made.out], [0, 'yard: made\n']);
  await service.stop();
  const gone = await run([file, '--apply', '--server', service.url], token);
  assert.deepEqual(
    [gone.status, gone.out],
    [2, 'nothing was imported: the service did not answer (ECONNREFUSED)\n'],
  );
});

test('what answers may repeat what it was sent: no token and no password shows', async (t) => {
  const file = join(tempFolder(t), 'go2rtc.yaml');
  writeFileSync(file, `streams: { a: '${HALL}', b: '${HALL}', c: '${HALL}' }`);
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume();
    calls++;
    const detail = `${request.headers.authorization} at ${HALL}\u001b[2J`;
    response.writeHead(calls === 2 ? 401 : 400).end(JSON.stringify({ detail }));
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status, out } = await run([file, '--apply', '--server', url], 'secret.of.mine');
  assert.equal(status, 1);
  assert.deepEqual(out.trim().split('\n'), [
    'a: refused: Bearer *** at ***?[2J',
    'b: refused: Bearer *** at ***?[2J',
    'not tried: 1 more',
  ]);
});

test('a call that can not work ends with 2 and repeats nothing', async (t) => {
  const file = join(tempFolder(t), 'go2rtc.yaml');
  writeFileSync(file, 'streams: { yard: "rtsp://127.0.0.1:9/yard" }');
  const calls = [
    [],
    [file, file],
    [`${file}.not`],
    [file, '--apply'],
    [file, '--apply', '--server', 'http://admin:canary@127.0.0.1:9'],
    [file, '--apply', '--server', 'file:///canary'],
    [file, '--token=canary'],
  ];
  for (const args of calls) assert.equal((await run(args, 'some.token.here')).status, 2, args.join(' '));
  assert.equal((await run([file, '--apply', '--server', 'http://127.0.0.1:9'], 'two words')).status, 2);
});
