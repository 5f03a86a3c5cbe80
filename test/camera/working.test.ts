import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FakeClock } from '../support/fake-clock.js';
import { KEY, nalOf, type TestRing, writeFrame } from '../support/ring.js';
import { setUp, stored } from './registry-rig.js';

const LOOK_MS = 250;

/** Pictures come at this pace, and it is looked whether the camera works as often as a cluster does. */
const sendFor = (
  { clock, works }: { clock: FakeClock; works: () => boolean },
  { writer }: TestRing,
  durationMs: number,
  paceMs: number,
): boolean[] => {
  const seen: boolean[] = [];
  for (let passed = 0; passed < durationMs; passed += LOOK_MS) {
    if (passed % paceMs === 0) {
      const arrivalMs = clock.monotonicMs();
      writeFrame(writer, nalOf(0, 500), { dts: arrivalMs * 90, arrivalMs, flags: KEY });
    }
    seen.push(works());
    clock.advance(LOOK_MS);
  }
  return seen;
};

const began = async (t: Parameters<typeof setUp>[0], isRecorded: boolean) => {
  const rig = setUp(t);
  const { clock, registry } = rig;
  await registry.create(stored('cam', { record: isRecorded }));
  const works = (): boolean => (registry.worksUntilMs('cam') ?? 0) > clock.monotonicMs();
  /** How long it counts as working when nothing more comes. */
  const patienceMs = (): number => {
    const sinceMs = clock.monotonicMs();
    while (works()) clock.advance(LOOK_MS);
    return clock.monotonicMs() - sinceMs;
  };
  return { ...rig, works, patienceMs };
};

test('a camera works only while its own source is there, whatever is recorded of another one', async (t) => {
  const rig = await began(t, true);
  const { registry, stream, lose, works } = rig;
  assert.equal(registry.worksUntilMs('cam'), null);
  const ring = stream('cam');
  assert.equal(registry.worksUntilMs('cam'), null, 'no picture came');
  sendFor(rig, ring, LOOK_MS, LOOK_MS);
  assert.ok(works());
  await registry.update('cam', { url: 'rtsp://another/one' });
  assert.equal(registry.worksUntilMs('cam'), null);
  stream('cam', ring.rings[0]);
  assert.ok(works());
  lose('cam');
  assert.equal(registry.worksUntilMs('cam'), null);
  await registry.update('cam', { disabled: true });
  assert.ok(works(), 'it is not to be connected');
  assert.equal(registry.worksUntilMs('other'), null);
});

test('a camera that sends nothing any more works no more after 2.5 s, long before its session counts as lost', async (t) => {
  const rig = await began(t, true);
  const ring = rig.stream('cam');
  sendFor(rig, ring, 60_000, LOOK_MS);
  const ms = rig.patienceMs();
  assert.ok(ms > 2_000 && ms <= 2_500, `${ms} ms`);
  // One outage is no habit.
  sendFor(rig, ring, 10_000, LOOK_MS);
  const again = rig.patienceMs();
  assert.ok(again > 2_000 && again <= 2_500, `${again} ms`);
});

test('a camera whose pictures come seldom is waited for as it usually is', async (t) => {
  const rig = await began(t, true);
  const ring = rig.stream('cam');
  sendFor(rig, ring, 10_000, 2_000);
  assert.deepEqual(new Set(sendFor(rig, ring, 120_000, 2_000)), new Set([true]));
  const ms = rig.patienceMs();
  assert.ok(ms > 3_000 && ms < 8_000, `${ms} ms`);
  sendFor(rig, ring, 20_000, 6_000);
  assert.deepEqual(new Set(sendFor(rig, ring, 120_000, 6_000)), new Set([true]));
  // It sends as others do again.
  sendFor(rig, ring, 60_000, LOOK_MS);
  assert.ok(rig.patienceMs() <= 2_500);
});

test('a camera whose disk hangs works no more after 4 s, though pictures come', async (t) => {
  const rig = await began(t, true);
  const ring = rig.stream('cam');
  sendFor(rig, ring, 60_000, LOOK_MS);
  rig.disk.hungSinceMs = rig.clock.monotonicMs();
  const seen = sendFor(rig, ring, 10_000, LOOK_MS);
  assert.equal(seen.indexOf(false) * LOOK_MS, 4_000);
  rig.disk.hungSinceMs = null;
  assert.deepEqual(new Set(sendFor(rig, ring, 10_000, LOOK_MS)), new Set([true]));
});

test('of a camera that is not recorded no disk is asked', async (t) => {
  const rig = await began(t, false);
  const ring = rig.stream('cam');
  rig.disk.hungSinceMs = rig.clock.monotonicMs();
  assert.deepEqual(new Set(sendFor(rig, ring, 10_000, LOOK_MS)), new Set([true]));
});
