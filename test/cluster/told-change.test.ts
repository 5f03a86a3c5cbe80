import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LogRecord } from '../../src/cluster/log-entry.js';
import { derivedKey, SealedText } from '../../src/cluster/sealed-text.js';
import { ToldChange, toldParts, type WrittenChange } from '../../src/cluster/told-change.js';

const MAX_BYTES = 2 ** 20;

const sealed = new SealedText(derivedKey('secret', 'site', 'settings'));

const anyText = fc.string({ unit: 'grapheme' });
const anyRecord: fc.Arbitrary<LogRecord> = fc.record({
  key: anyText,
  text: fc.option(
    fc.oneof(
      anyText,
      fc.nat(300_000).map((length) => 'é'.repeat(length)),
    ),
  ),
});
const anyChange: fc.Arbitrary<WrittenChange> = fc.record({
  expected: fc.nat(),
  changeId: fc.uuid(),
  records: fc.array(anyRecord, { maxLength: 12 }),
});

/** Cameras of an export: enough of them for several messages. */
const large = (expected: number): WrittenChange => ({
  expected,
  changeId: `change-${expected}`,
  records: Array.from({ length: 3_000 }, (_, at) => ({ key: `camera/${at}`, text: `${at} `.repeat(100) })),
});

const tell = (told: ToldChange, messages: readonly Uint8Array[]): boolean[] =>
  messages.map((message) => told.take(message));

test('a change is told as it was written, whoever has read up to where it begins', () => {
  fc.assert(
    fc.property(anyChange, (change) => {
      const told = new ToldChange(sealed);
      const messages = toldParts(sealed, change, MAX_BYTES);
      const isMore = tell(told, messages);
      assert.deepEqual(
        isMore,
        messages.map((_, at) => at < messages.length - 1),
      );
      const { expected, changeId, records } = change;
      if (expected > 0) assert.equal(told.after(expected - 1), null, 'what is between is not known');
      assert.deepEqual(
        told.after(expected),
        records.map((record, at) => ({ ...record, sequence: expected + 1 + at, changeId })),
      );
      assert.equal(told.after(expected + 1), null);
      assert.equal(told.after(expected), null, 'it is forgotten when it is known');
    }),
    { numRuns: 50 },
  );
});

test('who has it already is not told', () => {
  const told = new ToldChange(sealed);
  tell(told, toldParts(sealed, large(10), MAX_BYTES));
  assert.equal(told.after(11), null);
  assert.equal(told.after(10), null);
});

test('of messages that are lost, doubled, mixed or played again there are whole changes or none', () => {
  const changes = [large(10), large(3_010), { ...large(3_010), changeId: 'another' }];
  const messages = changes.flatMap((change) => toldParts(sealed, change, MAX_BYTES));
  assert.ok(messages.length >= 6, 'each takes several');
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...messages), { maxLength: 20 }), fc.boolean(), (heard, isWhole) => {
      const told = new ToldChange(sealed);
      tell(told, heard);
      if (isWhole) tell(told, toldParts(sealed, changes[0]!, MAX_BYTES));
      const entries = told.after(10);
      if (isWhole) assert.notEqual(entries, null);
      if (entries === null) return;
      assert.deepEqual(
        entries.map(({ key, text }) => ({ key, text })),
        changes[0]!.records,
      );
    }),
  );
});

test('what others say there is news at most', () => {
  const told = new ToldChange(sealed);
  const [message] = toldParts(sealed, large(10), MAX_BYTES) as [Buffer];
  const stranger = new SealedText(derivedKey('another', 'site', 'settings'));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(), fc.json(), (bytes, at, json) => {
      const broken = Buffer.from(message);
      broken[at % broken.length]! ^= 1;
      const odd = [bytes, broken, message.subarray(0, at % message.length)];
      const others = toldParts(stranger, large(10), MAX_BYTES);
      // As a box of another version may say it.
      const later = [json, `${json}\n`, `${json}\n${json}`].map((text) =>
        sealed.seal('a change that is told', text),
      );
      for (const one of [...odd, ...others, ...later]) assert.equal(told.take(one), false);
      assert.equal(told.after(10), null);
    }),
    { numRuns: 20 },
  );
});

test('a change that servers would not carry, or that is too long, is news alone', () => {
  const news = [Buffer.alloc(0)];
  assert.deepEqual(toldParts(sealed, large(10), 1_000), news);
  const records = Array.from({ length: 40 }, (_, at) => ({ key: `a/${at}`, text: 'x'.repeat(1_000_000) }));
  assert.deepEqual(toldParts(sealed, { ...large(10), records }, MAX_BYTES), news);
  assert.ok(toldParts(sealed, { ...large(10), records: records.slice(0, 30) }, MAX_BYTES).length >= 15);
  const told = new ToldChange(sealed);
  assert.deepEqual(tell(told, news), [false]);
});
