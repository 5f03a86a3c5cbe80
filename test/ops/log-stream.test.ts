import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../src/base/clock.js';
import { LogHub } from '../../src/ops/log-hub.js';
import { LogStream } from '../../src/ops/log-stream.js';
import { createProcessLog } from '../../src/ops/process-log.js';
import { SlowClient, settled } from '../support/slow-client.js';

const all = { level: null, cameraId: null };

const record = (msg: string, more: Record<string, unknown> = {}): string =>
  JSON.stringify({ level: 'info', time: '2026-11-21T08:30:00.000Z', ...more, msg });

const messagesOf = (lines: readonly { line: string }[]): string[] =>
  lines.map(({ line }) => (JSON.parse(line) as { msg: string }).msg);

/** The records that a client got. */
class LogReader extends SlowClient {
  get records(): Record<string, unknown>[] {
    return [...this.text.matchAll(/^event: log\ndata: (.*)\n\n/gm)].map(([, json]) => JSON.parse(json!));
  }
}

/** A clock whose periodic callbacks a test makes. */
const tickingClock = () => {
  const callbacks = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    every: (_periodMs, callback) => {
      callbacks.add(callback);
      return { cancel: () => callbacks.delete(callback) };
    },
  };
  const tick = (): void => {
    for (const callback of callbacks) callback();
  };
  return { clock, tick, count: () => callbacks.size };
};

test('the hub keeps the last 100, filtered by level and above and by camera', () => {
  const hub = new LogHub();
  for (let index = 0; index < 130; index++) hub.push(record(`r${index}`));
  hub.push(record('warned', { level: 'warn', camera_id: 'a' }));
  hub.push(record('broken', { level: 'error', camera_id: 'b' }));
  hub.push(record('detail', { level: 'debug', camera_id: 'a' }));
  const recent = messagesOf(hub.recent(all));
  assert.deepEqual([recent.length, recent[0], recent.at(-1)], [100, 'r33', 'detail']);
  assert.deepEqual(messagesOf(hub.recent({ level: 'warn', cameraId: null })), ['warned', 'broken']);
  assert.deepEqual(messagesOf(hub.recent({ level: null, cameraId: 'a' })), ['warned', 'detail']);
  assert.deepEqual(messagesOf(hub.recent({ level: 'error', cameraId: 'a' })), []);
});

test('the hub is bounded in bytes too, and shortens a monster', () => {
  const hub = new LogHub();
  for (let index = 0; index < 100; index++) hub.push(record(`${index}${'x'.repeat(60_000)}`));
  const bytes = hub.recent(all).reduce((sum, { line }) => sum + line.length, 0);
  assert.ok(bytes <= 1_048_576 && bytes > 900_000, `${bytes} bytes`);
  hub.push(record('y'.repeat(500_000), { camera_id: 'a', level: 'error' }));
  const last = JSON.parse(hub.recent(all).at(-1)!.line);
  assert.equal(last.msg, 'y'.repeat(1_000));
  assert.equal(last.camera_id, 'a');
  assert.equal(last.level, 'error');
  assert.ok(last.shortened_from_bytes > 500_000);
});

test('a client gets the last records on connect, then the new ones that pass its filter', async () => {
  const hub = new LogHub();
  hub.push(record('before', { camera_id: 'a' }));
  hub.push(record('other', { camera_id: 'b' }));
  const client = new LogReader();
  client.open();
  const stream = new LogStream(
    { level: null, cameraId: 'a' },
    { hub, sink: client, clock: tickingClock().clock },
  );
  hub.push(record('after "quoted"\nline', { camera_id: 'a' }));
  hub.push(record('other', { camera_id: 'b' }));
  await settled();
  assert.deepEqual(
    client.records.map(({ msg }) => msg),
    ['before', 'after "quoted"\nline'],
  );
  assert.match(client.text, /^: /, 'a comment comes first, so that the headers leave');
  stream.close();
  hub.push(record('late', { camera_id: 'a' }));
  await settled();
  assert.equal(client.records.length, 2);
  assert.ok(client.writableEnded);
});

test('a slow client loses records, is told how many and where, and delays nobody', async () => {
  const hub = new LogHub();
  const { clock } = tickingClock();
  const slow = new LogReader();
  const quick = new LogReader();
  quick.open();
  new LogStream(all, { hub, sink: slow, clock });
  new LogStream(all, { hub, sink: quick, clock });
  for (let index = 0; index < 299; index++) {
    hub.push(record(`r${index} ${'x'.repeat(20_000)}`));
    await settled(quick);
  }
  hub.push(record('small'));
  await settled(quick);
  assert.equal(quick.records.length, 300);
  assert.ok(slow.writableLength < 300_000, `${slow.writableLength} bytes wait in the socket`);
  slow.open();
  await settled(slow);
  for (const msg of ['caught up', 'y'.repeat(2_000), 'at ease']) {
    hub.push(record(msg));
    await settled(slow);
  }
  const { records } = slow;
  const notice = records.findIndex(({ lost }) => lost !== undefined);
  assert.equal(records[notice]!['level'], 'warn');
  assert.equal((records[notice]!['lost'] as number) + notice, 300);
  assert.ok(notice > 10, `${notice} were kept`);
  // There would have been room for the small one, but it comes after those that are lost.
  assert.ok(records.slice(0, notice).every(({ msg }) => msg !== 'small'));
  const after = records.slice(notice + 1).map(({ msg }) => msg);
  assert.deepEqual(after, ['caught up', 'y'.repeat(2_000), 'at ease']);
});

test('a comment every period; a client that takes nothing for four of them is cut off', async () => {
  const hub = new LogHub();
  const { clock, tick, count } = tickingClock();
  const client = new LogReader();
  client.open();
  new LogStream(all, { hub, sink: client, clock });
  tick();
  tick();
  await settled();
  assert.equal(client.text.match(/^: .*\n\n/gm)?.length, 3);
  client.destroy();
  await settled();
  assert.equal(count(), 0, 'a client that goes away is forgotten');

  const dead = new LogReader();
  new LogStream(all, { hub, sink: dead, clock });
  hub.push(record('x'.repeat(2_000)));
  for (let period = 0; period < 4; period++) {
    assert.ok(!dead.destroyed);
    tick();
  }
  await settled();
  assert.ok(dead.destroyed);
  assert.equal(count(), 0);
});

test('one call feeds standard output and the hub with the same clean line', () => {
  const hub = new LogHub();
  let output = '';
  let flushes = 0;
  const sink = {
    write: (line: string) => {
      output += line;
    },
    flushSync: () => {
      flushes++;
    },
  };
  const { log, flush } = createProcessLog({ level: 'info' }, { hub, sink });
  log.debug('not shown');
  log
    .child({ camera_id: 'a' })
    .warn('camera is away', { reason: 'no answer of rtsp://u:hunter2@cam/x', retry_in_ms: 250 });
  log.info('listening', { url: 'http://0.0.0.0:8080' });
  flush();
  assert.equal(flushes, 1);
  const lines = output.trimEnd().split('\n');
  assert.deepEqual(
    hub.recent(all).map(({ line }) => line),
    lines,
  );
  const [away, listening] = lines.map((line) => JSON.parse(line));
  assert.match(away.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  delete away.time;
  delete listening.time;
  assert.deepEqual(away, {
    level: 'warn',
    camera_id: 'a',
    reason: 'no answer of rtsp://***@cam/x',
    retry_in_ms: 250,
    msg: 'camera is away',
  });
  assert.deepEqual(listening, { level: 'info', url: 'http://0.0.0.0:8080', msg: 'listening' });
});

test('a silent log writes nothing', () => {
  const hub = new LogHub();
  const sink = { write: () => assert.fail('a line was written'), flushSync: () => {} };
  const { log } = createProcessLog({ level: 'silent' }, { hub, sink });
  log.error('boom');
  assert.deepEqual(hub.recent(all), []);
});

test('standard output holds every line, even of a process that exits at once', () => {
  const module = (name: string): string => new URL(`../../src/ops/${name}.js`, import.meta.url).href;
  const code = `
    import { LogHub } from '${module('log-hub')}';
    import { createProcessLog } from '${module('process-log')}';
    const { log, flush } = createProcessLog({ level: 'info' }, { hub: new LogHub() });
    for (let index = 0; index < 500; index++) log.info('line ' + index);
    flush();
    process.exit(0);
  `;
  const run = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
  assert.equal(run.status, 0, run.stderr);
  const lines = run.stdout.trimEnd().split('\n');
  assert.equal(lines.length, 500);
  assert.equal(JSON.parse(lines[499]!).msg, 'line 499');
});
