import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Departures } from '../../../src/archive/offsite/departures.js';
import { Notes } from '../../../src/archive/offsite/notes.js';
import { Outbox } from '../../../src/archive/offsite/outbox.js';
import { tempFolder } from '../../support/temp-folder.js';
import { logLines } from '../log-lines.js';
import { Departing } from './departing.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

test('uploads that nobody here remembers are ended once they are a day old: another box may be at them', async (t) => {
  const folder = tempFolder(t);
  const state = { nowMs: 10 * DAY_MS };
  const nowMs = () => state.nowMs;
  const uploads = [1, 25, 26, null].map((hours, at) => ({
    name: `${at === 2 ? 'gate' : 'door'}/2026-11-21/2026-11-21_08-30-00_to_08-31-00_0_box.mp4`,
    uploadId: String(hours),
    begunMs: hours === null ? null : state.nowMs - hours * HOUR_MS,
  }));
  const ended: string[] = [];
  const client = {
    listUploads: async () => uploads.filter(({ uploadId }) => !ended.includes(uploadId)),
    abortUpload: async (_: string, uploadId: string) => void ended.push(uploadId),
    ...{ head: async () => null, delete: async () => {}, list: async () => ({ items: [], next: null }) },
  };
  const notes = new Notes(folder, { nowMs, leaveMs: 0 });
  notes.replace('door', []);
  const outbox = new Outbox(join(folder, 'outbox.json'), () => assert.fail('it is damaged'));
  const departures = new Departures(
    { archiveDir: join(folder, 'none'), box: 'box' },
    { client, log: logLines().log, nowMs, wallMs: nowMs, notes, outbox, onChange: () => {} },
  );
  const { signal } = new AbortController();
  await departures.step(signal);
  assert.deepEqual(ended, ['25']);
  state.nowMs += DAY_MS;
  await departures.step(signal);
  // Of `gate` nothing is here, and of the last one nobody says when it was begun.
  assert.deepEqual(ended, ['25', '1']);
});

test('an upload is ended twice: a part that was on its way may have begun it anew behind the first time', async (t) => {
  const one = new Departing(t);
  const asked: string[] = [];
  one.client.abortUpload = async (name, uploadId) => void asked.push(`${name} ${uploadId}`);
  const object = 'door/2026-11-21/2026-11-21_08-30-00_to_08-31-00_0_box.mp4';
  one.outbox.set({ object, source: '1', uploadId: 'a', parts: {}, mark: null, isUnwanted: false });
  one.outbox.abandon(object);
  one.outbox.remove(object);
  await one.step();
  await one.step(1_000);
  assert.deepEqual(asked, [`${object} a`]);
  assert.equal(one.outbox.ended.length, 1);
  await one.step(5_000);
  await one.step(60_000);
  assert.deepEqual(asked, [`${object} a`, `${object} a`]);
  assert.deepEqual(one.outbox.ended, []);
});

test('so is one whose file is gone, and of many none is left unended where the store obeys', async (t) => {
  const one = new Departing(t);
  const asked = new Map<string, number>();
  one.client.abortUpload = async (_name, uploadId) =>
    void asked.set(uploadId, (asked.get(uploadId) ?? 0) + 1);
  const begin = (index: number, uploadId: string): string => {
    const at = new Date(Date.UTC(2026, 10, 21, 8, 0, index)).toISOString();
    const object = `door/2026-11-21/2026-11-21_${at.slice(11, 19).replaceAll(':', '-')}_to_09-30-00_0_box.mp4`;
    one.outbox.set({ object, source: '1', uploadId, parts: {}, mark: null, isUnwanted: true });
    return object;
  };
  const given = begin(0, 'given up before');
  one.outbox.abandon(given);
  one.outbox.remove(given);
  // As many as are written down of those that were ended.
  for (let index = 1; index <= 1_000; index += 1) begin(index, `${index}`);
  for (let turn = 0; turn < 4; turn += 1) await one.step(6_000);
  assert.equal(asked.size, 1_001);
  assert.equal(asked.get('given up before'), 1);
  assert.deepEqual(new Set([...asked.values()].slice(1)), new Set([2]));
  assert.deepEqual([one.outbox.ended, one.outbox.sendings], [[], []]);
});
