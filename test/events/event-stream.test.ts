import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventHub, type Happening, type HubEvent } from '../../src/events/event-hub.js';
import { EventStream } from '../../src/events/event-stream.js';
import { FakeClock } from '../support/fake-clock.js';
import { SlowClient, settled } from '../support/slow-client.js';

const happening = (id: string, changes: Partial<Happening> = {}): Happening => ({
  ...{ topic: 'cameras', id, set: { state: 'streaming' }, cameraId: id, needs: 'cameras.list' },
  ...changes,
});

/** The ids of what came, in order; `reset` where it was one. */
const idsIn = (text: string): string[] =>
  [...text.matchAll(/^event: reset$|^data: (\{"topic".*)$/gm)].map(([, json]) =>
    json === undefined ? 'reset' : JSON.parse(json).id,
  );

const lastIdIn = (text: string): string => [...text.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';

const setUp = () => {
  const clock = new FakeClock();
  const hub = new EventHub(clock);
  const feed = { starts: 0, stops: 0 };
  hub.add({ start: () => feed.starts++, stop: () => feed.stops++ });
  const connect = (
    lastEventId: string | null = null,
    isWanted: (event: HubEvent) => boolean = () => true,
    client = new SlowClient(),
  ) => {
    const stream = new EventStream({ isWanted, lastEventId }, { hub, sink: client, clock });
    return { client, stream, ids: () => idsIn(client.text) };
  };
  const open = (...asked: Parameters<typeof connect>) => {
    const reader = connect(...asked);
    reader.client.open();
    return reader;
  };
  return { clock, hub, feed, connect, open };
};

test('a reader begins with a reset, then gets what it wants as it happens', async () => {
  const { hub, open } = setUp();
  hub.publish(happening('unheard'));
  const all = open();
  const some = open(null, ({ topic }) => topic === 'config');
  hub.publish(happening('door'));
  hub.publish(happening('tags/t', { topic: 'config', set: { name: 'T "x"\n' } }));
  await settled();
  assert.deepEqual(all.ids(), ['reset', 'door', 'tags/t']);
  assert.deepEqual(some.ids(), ['reset', 'tags/t']);
  assert.match(all.client.text, /^: /, 'a comment comes first, so that the headers leave');
  assert.match(
    some.client.text,
    /data: \{"topic":"config","id":"tags\/t","set":\{"name":"T \\"x\\"\\n"\}\}\n\n/,
  );
  all.stream.close();
  assert.ok(all.client.writableEnded);
});

test('who comes back gets what it missed; who was away too long, or before another start, a reset', async () => {
  const { clock, hub, open } = setUp();
  const first = open();
  hub.publish(happening('a'));
  await settled();
  first.stream.close();
  clock.advance(59_000);
  hub.publish(happening('b'));
  const back = open(lastIdIn(first.client.text));
  await settled();
  assert.deepEqual(back.ids(), ['b']);
  for (const id of [
    lastIdIn(setUp().open().client.text),
    'nonsense',
    '',
    `${lastIdIn(first.client.text)}9`,
  ]) {
    const reader = open(id);
    await settled();
    assert.deepEqual(reader.ids(), ['reset'], id);
    reader.stream.close();
  }
  for (let count = 0; count < 2_048; count++) hub.publish(happening('c'));
  const late = open(lastIdIn(first.client.text));
  const [latest] = hub.since(hub.position - 1)!;
  const justInTime = open(hub.textOf(latest!.position - 2_048));
  await settled(late.client, justInTime.client);
  assert.deepEqual([late.ids(), justInTime.ids().length], [['reset'], 2_048]);
});

test('a filter does not age its reader: its position goes on with the comments', async () => {
  const { clock, hub, open } = setUp();
  const nothing = (): boolean => false;
  const reader = open(null, nothing);
  for (let count = 0; count < 2_000; count++) hub.publish(happening('c'));
  await settled();
  clock.advance(15_000);
  reader.stream.close();
  for (let count = 0; count < 2_000; count++) hub.publish(happening('c'));
  const back = open(lastIdIn(reader.client.text), nothing);
  await settled();
  assert.deepEqual(back.ids(), []);
});

test('a slow reader has nothing queued: it catches up with what is kept, or is told to look anew', async () => {
  const { hub, connect, open } = setUp();
  const slow = connect();
  const slower = connect();
  const quick = open();
  const text = 'x'.repeat(1_000);
  const publish = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index++) {
      hub.publish(happening(String(index), { set: { text } }));
      if (index % 100 === 99) await settled(quick.client);
    }
  };
  await publish(100);
  assert.ok(slow.client.writableLength < 120_000, `${slow.client.writableLength} bytes wait`);
  slow.client.open();
  await settled(slow.client);
  assert.deepEqual(slow.ids(), ['reset', ...Array.from({ length: 100 }, (_, index) => String(index))]);
  await publish(3_000);
  assert.ok(slower.client.writableLength < 120_000, `${slower.client.writableLength} bytes wait`);
  slower.client.open();
  await settled(slower.client);
  const ids = slower.ids();
  assert.deepEqual([ids[0], ids.at(-1)], ['reset', 'reset']);
  assert.equal(lastIdIn(slower.client.text), hub.textOf(hub.position), 'it goes on from now');
  assert.equal(quick.ids().length, 3_101);
});

test('what is kept is bounded in bytes, too', () => {
  const { hub } = setUp();
  hub.listen(() => {});
  for (let count = 0; count < 100; count++)
    hub.publish(happening('a', { set: { text: 'x'.repeat(50_000) } }));
  const kept = [...Array(100).keys()].filter((count) => hub.since(hub.position - count) !== null);
  assert.equal(kept.at(-1), 20);
});

test('nothing is looked at while nobody reads; who reads on within a minute misses nothing', async () => {
  const { clock, hub, feed, open } = setUp();
  assert.equal(feed.starts, 0);
  const first = open();
  const second = open();
  assert.equal(feed.starts, 1);
  first.stream.close();
  second.stream.close();
  clock.advance(59_999);
  assert.equal(feed.stops, 0);
  clock.advance(1);
  assert.equal(feed.stops, 1);
  hub.publish(happening('unheard'));
  const back = open(hub.textOf(hub.position - 1));
  await settled();
  assert.deepEqual([back.ids(), feed.starts], [['reset'], 2]);
  back.stream.close();
  hub.stop();
  assert.deepEqual([feed.stops, clock.pendingTimers], [2, 0]);
});

test('a comment every 15 s shows that it lives; who takes nothing for a minute is cut off', async () => {
  const { clock, connect, open } = setUp();
  const quiet = open();
  const dead = connect(null, () => true, new SlowClient());
  dead.client.write('x'.repeat(2_000));
  dead.stream.close = () => assert.fail('it is cut, not closed');
  clock.advance(15_000);
  await settled(quiet.client);
  assert.match(quiet.client.text, /: still here\nid: \S+\n\n$/);
  assert.equal(dead.client.destroyed, false);
  for (let period = 0; period < 5; period++) clock.advance(15_000);
  assert.ok(dead.client.destroyed);
  assert.equal(quiet.client.destroyed, false);
});

test('a feed that can not begin is begun again for whoever comes next', () => {
  const hub = new EventHub(new FakeClock());
  let begun = 0;
  hub.add({
    start: () => {
      begun += 1;
      if (begun === 1) throw new Error('the database is away');
    },
    stop: () => {},
  });
  assert.throws(() => hub.listen(() => {}), /away/);
  hub.listen(() => {});
  assert.deepEqual([begun, hub.listenerCount], [2, 1]);
});
