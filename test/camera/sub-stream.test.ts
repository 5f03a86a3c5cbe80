import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sourceKey } from '../../src/ring/source-key.js';
import { secondOf, setUp, stored } from './registry-rig.js';

const SUB_URL = 'rtsp://user:secret@sub.local/2';
const sub = sourceKey('a', 'sub');
const noop = (): void => {};

const unwatched = {
  state: 'standby',
  last_error: '',
  codec: '',
  resolution: '',
  width: 0,
  height: 0,
  fps: 0,
  bitrate: 0,
};

test('a sub-stream is shown beside the main one: standing by, then as it comes, and why it does not', async (t) => {
  const { clock, cameras, registry, stream, lose } = setUp(t);
  await registry.create(stored('a', { sub_url: SUB_URL }));
  await registry.create(stored('b'));
  assert.deepEqual(registry.get('a', true).sub, unwatched);
  assert.equal(registry.get('b', true).sub, null);
  cameras.follow(sub, noop);
  assert.equal(registry.get('a', true).sub?.state, 'connecting');
  const ring = stream(sub);
  for (let seconds = 0; seconds < 6; seconds++) secondOf(ring, clock);
  const { sub: shown, state, codec, fps } = registry.get('a', true);
  assert.deepEqual(shown, {
    ...unwatched,
    ...{ state: 'streaming', codec: 'h264', resolution: '1920x1080', width: 1920, height: 1080 },
    ...{ fps: 25, bitrate: 200 },
  });
  assert.deepEqual([state, codec, fps], ['connecting', '', 0], 'the main stream is told of by itself');
  lose(sub);
  const lost = registry.get('a', true);
  assert.deepEqual([lost.sub?.state, lost.sub?.last_error], ['reconnecting', 'went away']);
  assert.equal(lost.last_error, '');
});

test('a sub-stream that is added later is shown and counted, and that of no other camera with it', async (t) => {
  const { clock, cameras, registry, stream } = setUp(t);
  await registry.create(stored('a'));
  await registry.create(stored('b'));
  clock.advance(1_000);
  await registry.update('a', { sub_url: SUB_URL });
  await registry.update('b', { sub_url: SUB_URL });
  cameras.follow(sub, noop);
  const ring = stream(sub);
  for (let seconds = 0; seconds < 6; seconds++) secondOf(ring, clock, 100_000);
  const { sub: shown, traffic_used_mb: usedMb } = registry.get('a', true);
  assert.deepEqual([shown?.state, shown?.codec, shown?.fps, usedMb], ['streaming', 'h264', 25, 0.6]);
  assert.deepEqual([registry.get('b', true).sub, registry.get('b', true).traffic_used_mb], [unwatched, 0]);
});

test('both streams count against the month, and rest when it is over its limit', async (t) => {
  const { clock, cameras, registry, stream } = setUp(t);
  await registry.create(stored('a', { sub_url: SUB_URL, traffic_limit: 2 }));
  cameras.follow(sub, noop);
  const [mainRing, subRing] = [stream('a'), stream(sub)];
  mainRing.writer.add('receivedBytes', 1_200_000);
  secondOf(subRing, clock, 700_000);
  assert.equal(registry.get('a', true).traffic_used_mb, 1.9);
  assert.equal([...registry.figures()][0]?.receivedBytes, 1_900_000);
  secondOf(subRing, clock, 200_000);
  const over = registry.get('a', true);
  assert.deepEqual([over.state, over.sub?.state], ['traffic_limited', 'traffic_limited']);
  assert.ok(clock.advance(60_000) === undefined && cameras.workerCount === 0, 'nothing runs for it');
  await registry.update('a', { traffic_limit: 0 });
  const raised = registry.get('a', true);
  assert.deepEqual([raised.state, raised.sub?.state], ['connecting', 'connecting']);
});

test('a sub-stream that is taken away is billed to its last byte', async (t) => {
  const { clock, cameras, registry, stream } = setUp(t);
  await registry.create(stored('a', { sub_url: SUB_URL }));
  cameras.follow(sub, noop);
  const ring = stream(sub);
  secondOf(ring, clock, 500_000);
  ring.writer.add('receivedBytes', 200_000);
  await registry.update('a', { sub_url: '' });
  ring.writer.add('receivedBytes', 30_000);
  clock.advance(1_000);
  assert.equal(registry.get('a', true).traffic_used_mb, 0.73);
  assert.equal(registry.get('a', true).sub, null);
});

test('a change of one address restarts that stream alone; what both share restarts both', async (t) => {
  const { cameras, registry, stream, told } = setUp(t);
  await registry.create(stored('a', { sub_url: SUB_URL }));
  cameras.follow(sub, noop);
  stream('a');
  stream(sub);
  const connected = async (act: () => Promise<void>): Promise<string[]> => {
    told.length = 0;
    await act();
    return told.flatMap((message) =>
      message.type === 'connect' ? [`${message.cameraId} ${message.source.url}`] : [],
    );
  };
  const nextUrl = 'rtsp://sub.local/3';
  assert.deepEqual(await connected(() => registry.update('a', { sub_url: nextUrl })), [`a/sub ${nextUrl}`]);
  assert.deepEqual(await connected(() => registry.update('a', { url: 'rtsp://a.local/4' })), [
    'a rtsp://a.local/4',
  ]);
  assert.deepEqual(await connected(() => registry.update('a', { transport: 'udp', comment: 'both' })), [
    'a rtsp://a.local/4',
    `a/sub ${nextUrl}`,
  ]);
  assert.deepEqual(await connected(() => registry.update('a', { record: true, traffic_limit: 5 })), []);
});

test('another way to record touches no stream, and its recorder alone is told', async (t) => {
  const { registry, stream, told } = setUp(t);
  await registry.create(stored('a', { record: true, record_mode: 'events' }));
  stream('a');
  const modes = () => told.flatMap((message) => (message.type === 'record' ? [message.mode] : []));
  assert.deepEqual(modes(), ['events']);
  told.length = 0;
  await registry.update('a', { record_mode: 'continuous', event_retention_days: 30 });
  assert.deepEqual(
    told.map(({ type }) => type),
    ['record'],
  );
  assert.deepEqual(modes(), ['continuous']);
});

test('the sub-stream is never recorded, and an import brings it, changes it and takes it away', async (t) => {
  const { cameras, registry, store, stream, told } = setUp(t);
  await registry.create(stored('a', { sub_url: SUB_URL, record: true }));
  cameras.follow(sub, noop);
  stream(sub);
  assert.deepEqual(
    told.flatMap((message) => (message.type === 'record' ? [message.cameraId] : [])),
    ['a'],
  );
  told.length = 0;
  store.cameras.replaceAll([stored('a', { record: true })]);
  registry.reload();
  const touched = new Set(told.flatMap((message) => ('cameraId' in message ? [message.cameraId] : [])));
  assert.deepEqual([...touched], [sub]);
  assert.equal(registry.get('a', true).sub, null);
  await registry.remove('a', { isPurged: false });
  assert.deepEqual([...cameras.ids], []);
});

test('a stream is found by its name: without a sub-stream that is the main one', async (t) => {
  const { registry } = setUp(t);
  await registry.create(stored('a', { sub_url: SUB_URL }));
  await registry.create(stored('b'));
  assert.deepEqual(
    [registry.sourceOf('a', 'main'), registry.sourceOf('a', 'sub'), registry.sourceOf('b', 'sub')],
    ['a', 'a/sub', 'b'],
  );
});

test('a camera on demand costs nothing until somebody wants it, and its HLS is made for nobody', async (t) => {
  const { clock, cameras, registry, stream, told } = setUp(t);
  await registry.create(
    stored('a', { on_demand: true, lazy_hls: false, sub_url: SUB_URL, traffic_limit: 1 }),
  );
  clock.advance(3_600_000);
  const { state, last_error, traffic_used_mb, sub: shown } = registry.get('a', true);
  assert.deepEqual([state, last_error, traffic_used_mb, shown], ['standby', '', 0, unwatched]);
  assert.deepEqual([told, cameras.workerCount, registry.alwaysOnHls()], [[], 0, []]);
  const [figures] = registry.figures();
  assert.deepEqual([figures?.state, figures?.ringBytes, figures?.counters], ['standby', 0, null]);
  const leave = cameras.follow('a', noop);
  secondOf(stream('a'), clock, 500_000);
  leave();
  clock.advance(32_000);
  const after = registry.get('a', true);
  assert.deepEqual([after.state, after.traffic_used_mb, after.codec], ['standby', 0.5, '']);
  await registry.update('a', { record: true });
  assert.equal(registry.get('a', true).state, 'connecting');
});
