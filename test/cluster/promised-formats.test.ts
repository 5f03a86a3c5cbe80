import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { beatOf } from '../../src/cluster/boxes/beat.js';
import { keyName, keyOfName } from '../../src/cluster/key-names.js';
import { reportBytes, reportOf } from '../../src/cluster/owners/report.js';
import { WireReader } from '../../src/relay/wire/reader.js';
import { readDescribed, readEnd, readHello, readWelcome } from '../../src/relay/wire/texts.js';
import { SharedRecords } from '../../src/store/shared/shared-records.js';
import { Store } from '../../src/store/store.js';
import { WireLog } from '../relay/wire-log.js';
import { tempFolder } from '../support/temp-folder.js';
import * as promised from './promised-formats.js';

/*
 * Boxes of two versions are together while a cluster is brought to the next one: what the one before wrote, and wants to
 * read, is kept as its own writers wrote it. A version that writes more gets a file of its own, beside those that are there:
 *
 *     node -e "import('./dist/test/cluster/promised-formats.js').then(({ written }) =>
 *       console.log(JSON.stringify(written('/an/empty/folder'), null, 2)))"
 */
const FOLDER = join(import.meta.dirname, '../../../test/fixtures/cluster');

const bytesOf = (base64: string): Buffer => Buffer.from(base64, 'base64');

/** What is said by a message of the relay. */
const saidBy = (base64: string, side: 'sender' | 'puller' = 'sender'): unknown => {
  const log = new WireLog();
  const bytes = bytesOf(base64);
  new WireReader(side, log).feed(bytes, 0, bytes.length);
  return log.said[0];
};

const textBy = (base64: string, side?: 'puller'): string => (saidBy(base64, side) as { text: string }).text;

/** All that is in the first is in the second, and the same there; lists are as long at least. */
const isWithin = (before: unknown, after: unknown): boolean => {
  if (typeof before !== 'object' || before === null) return before === after;
  if (typeof after !== 'object' || after === null) return false;
  return Object.entries(before).every(([key, value]) =>
    isWithin(value, (after as Record<string, unknown>)[key]),
  );
};

const keeps = (before: string, after: string): void =>
  assert.ok(isWithin(JSON.parse(before), JSON.parse(after)), `${after} has not all of ${before}`);

/** A token that is made anew with each user. */
const withoutChance = (text: string): string => {
  const { token_epoch: _, ...fields } = JSON.parse(text) as Record<string, unknown>;
  return JSON.stringify(fields);
};

for (const name of readdirSync(FOLDER)) {
  const before = JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as promised.Written;

  test(`what boxes of ${name} say and keep is understood`, (t) => {
    assert.ok(isWithin(promised.BEAT, beatOf(before.beat)));
    assert.ok(isWithin(promised.REPORT, reportOf(bytesOf(before.report))));
    assert.equal(keyOfName(before.keyName), promised.KEY);
    assert.equal(
      promised.sealedText().open(promised.SEALED.name, bytesOf(before.sealed)),
      promised.SEALED.text,
    );
    const { relay } = before;
    assert.ok(isWithin(promised.HELLO, readHello(textBy(relay.hello, 'puller'))));
    assert.ok(isWithin(promised.WELCOME, readWelcome(textBy(relay.welcome))));
    assert.ok(isWithin(promised.DESCRIBED, readDescribed(textBy(relay.description))));
    assert.ok(isWithin({ reason: 'why' }, readEnd(textBy(relay.end))));
    assert.ok(isWithin(promised.FRAME, saidBy(relay.frame)));
    assert.ok(isWithin({ ...promised.FRAME, isVideo: false }, saidBy(relay.sound)));
    assert.ok(isWithin({ seen: 1234 }, saidBy(relay.seen, 'puller')));
    assert.equal(saidBy(relay.alive), undefined);
    const store = new Store(join(tempFolder(t), 'framering.db'));
    t.after(() => store.close());
    const records = store.share((db) => ({
      change: async (work) => work(),
      all: new SharedRecords(db),
    })).all;
    assert.deepEqual(records.replaceBy(new Map(Object.entries(before.records))).refused, []);
    for (const [key, text] of Object.entries(before.records)) keeps(text, records.all().get(key) ?? 'null');
  });

  test(`what boxes of ${name} look for is still said and kept`, (t) => {
    const after = promised.written(tempFolder(t));
    keeps(before.beat, after.beat);
    keeps(before.reportText, after.reportText);
    assert.equal(keyName(promised.KEY), before.keyName);
    for (const [key, text] of Object.entries(before.records))
      keeps(withoutChance(text), after.records[key] ?? 'null');
    for (const kind of ['hello', 'welcome', 'description', 'end'] as const) {
      const side = kind === 'hello' ? 'puller' : undefined;
      assert.equal(bytesOf(after.relay[kind])[4], bytesOf(before.relay[kind])[4], kind);
      keeps(textBy(before.relay[kind], side), textBy(after.relay[kind], side));
    }
    for (const kind of ['frame', 'sound'] as const) {
      const [old, now] = [bytesOf(before.relay[kind]), bytesOf(after.relay[kind])];
      const headBytes = old[5]!;
      // Behind its length and what it is: as much of the head as was known then, and then the frame.
      assert.equal(now[4], old[4], kind);
      assert.ok(now[5]! >= headBytes);
      assert.deepEqual(now.subarray(6, 5 + headBytes), old.subarray(6, 5 + headBytes), kind);
    }
    for (const kind of ['alive', 'seen'] as const) assert.equal(after.relay[kind], before.relay[kind]);
  });
}

test('that a camera ends threads is told by a bit that boxes of the version before pass over', () => {
  const [row] = promised.REPORT.rows;
  const bytes = reportBytes({ ...promised.REPORT, rows: [{ ...row!, endsThreads: true }] });
  const { rows } = JSON.parse(inflateRawSync(bytes).toString()) as { rows: [[string, number, number]] };
  assert.equal(rows[0][2], 1 | 2 | 32);
  assert.equal(reportOf(bytes)?.rows[0]?.endsThreads, true);
});
