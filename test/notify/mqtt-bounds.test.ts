import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '../../src/base/clock.js';
import { Backlog } from '../../src/notify/mqtt/backlog.js';
import { PacketGuard } from '../../src/notify/mqtt/packet-guard.js';

const MAX_BYTES = 1_000;

/** MQTT 3.1.1, section 2.2.3. */
const lengthBytes = (length: number): number[] => {
  const bytes: number[] = [];
  let left = length;
  do {
    bytes.push((left % 128) | (left >= 128 ? 0x80 : 0));
    left = Math.floor(left / 128);
  } while (left > 0);
  return bytes;
};

const packetOf = (first: number, length: number): Buffer =>
  Buffer.concat([Buffer.from([first, ...lengthBytes(length)]), Buffer.alloc(length, 0xff)]);

/** Of all types, but messages of QoS 2 and 3. */
const firstBytes = fc.integer({ min: 0, max: 255 }).filter((first) => first >> 4 !== 3 || (first & 4) === 0);
const cutsOf = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 20 });

const faultOf = (bytes: Buffer, cuts: readonly number[]): string | null => {
  const guard = new PacketGuard(MAX_BYTES, systemClock);
  let at = 0;
  for (let turn = 0; at < bytes.length; turn++) {
    const end = at + cuts[turn % cuts.length]!;
    const fault = guard.fault(bytes.subarray(at, end));
    if (fault !== null) return fault;
    at = end;
  }
  return null;
};

test('packets that are short enough pass, however they are cut; one that is too long does not, nor what follows it', () => {
  const packets = fc.array(fc.tuple(firstBytes, fc.integer({ min: 0, max: MAX_BYTES })), { maxLength: 20 });
  fc.assert(
    fc.property(
      packets,
      cutsOf,
      fc.integer({ min: MAX_BYTES + 1, max: 268_435_455 }),
      (good, cuts, tooLong) => {
        const bytes = Buffer.concat(good.map(([first, length]) => packetOf(first, length)));
        assert.equal(faultOf(bytes, cuts), null);
        const head = Buffer.from([0x30, ...lengthBytes(tooLong)]);
        assert.match(faultOf(Buffer.concat([bytes, head]), cuts) ?? '', /more than 1000 bytes/);
      },
    ),
  );
});

test('a length that never ends is no MQTT, and a message of QoS 2 was asked for by nobody', () => {
  const endless = new PacketGuard(2 ** 40, systemClock);
  assert.match(endless.fault(Buffer.from([0x20, 0xff, 0xff, 0xff, 0xff])) ?? '', /no MQTT/);
  for (const first of [0x34, 0x35, 0x36, 0x3c])
    assert.match(
      new PacketGuard(MAX_BYTES, systemClock).fault(Buffer.from([first])) ?? '',
      /nobody asked for/,
    );
  assert.equal(new PacketGuard(MAX_BYTES, systemClock).fault(Buffer.from([0x33, 0])), null);
});

test('whatever is taken, acknowledged in any order and begun anew: all that was not given up arrives, in order', () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ kind: fc.constant('add' as const), bytes: fc.integer({ min: 0, max: 3_000_000 }) }),
      fc.record({ kind: fc.constantFrom('take' as const, 'take' as const, 'rewind' as const) }),
      fc.record({ kind: fc.constant('finish' as const), which: fc.nat(20) }),
    ),
    { maxLength: 80, size: 'max' },
  );
  fc.assert(
    fc.property(steps, (taken) => {
      const backlog = new Backlog();
      let added = 0;
      let dropped = 0;
      let onTheirWay: (() => void)[] = [];
      const sent: number[] = [];
      const arrived = new Set<number>();
      const take = (): boolean => {
        const next = backlog.take();
        if (next === null) return false;
        const number = Number(next.message.topic);
        assert.ok(!arrived.has(number), 'what arrived is not sent again');
        sent.push(number);
        onTheirWay.push(() => {
          arrived.add(number);
          next.onDone();
        });
        return true;
      };
      for (const step of taken) {
        if (step.kind === 'add') {
          const payload = Buffer.allocUnsafe(step.bytes);
          dropped += backlog.add({ topic: String(added++), payload, qos: 1, retain: false });
        } else if (step.kind === 'take') take();
        else if (step.kind === 'finish') onTheirWay.splice(step.which % (onTheirWay.length || 1), 1)[0]?.();
        else {
          backlog.rewind();
          onTheirWay = [];
        }
      }
      do for (const finish of onTheirWay.splice(0)) finish();
      while (take());
      assert.equal(backlog.size, 0);
      assert.equal(arrived.size, added - dropped, 'each of them');
      const firsts = [...new Set(sent)];
      assert.deepEqual(
        firsts,
        firsts.toSorted((a, b) => a - b),
      );
    }),
    { numRuns: 200 },
  );
});
