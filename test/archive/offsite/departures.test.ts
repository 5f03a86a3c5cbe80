import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { cutRecording } from '../../../src/archive/keep/cut-recording.js';
import { copiesPath, readCopies, writeCopies } from '../../../src/archive/offsite/copies-file.js';
import { CopyTable } from '../../../src/archive/offsite/copy-table.js';
import { BetweenStore } from '../../support/between-store.js';
import { until } from '../../support/until.js';
import { Versitygw, withoutStore } from '../../support/versitygw.js';
import { writeClosed } from '../recording-file.js';
import { CopierRig, EVERYTHING, expiryOf, named, PART_BYTES, START_MS } from './copier-rig.js';

const skip = withoutStore;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const refused = { status: 403, code: 'AccessDenied' } as const;

const remove = (rig: CopierRig, fileName: string): void => rmSync(rig.pathOf('door', fileName));

test('what is deleted within a time goes from the store, though the disk has it no more', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const [first, second] = [rig.record('door', 0), rig.record('door', 1)];
  rig.start();
  await rig.untilIdle();
  remove(rig, first);
  assert.equal(rig.copier.forget('door', { fromMs: START_MS, toMs: START_MS + MINUTE_MS, fileNames: [] }), 1);
  await until('it is gone', () => !existsSync(rig.objectPath('door', first)));
  assert.ok(rig.isCopied('door', second));
});

test('a wish outlives the run and the notes that were lost; what comes later under the same id stays', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const rig = new CopierRig(t, store);
  const old = rig.record('door', 0);
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  await store.kill();
  rmSync(rig.copiesDir, { recursive: true });
  remove(rig, old);
  rig.start();
  rig.copier.forget('door', EVERYTHING);
  await rig.stop();
  const young = rig.record('door', 5);
  await store.start();
  rig.start();
  await until('the old one is gone, the young one is there', () => {
    return !existsSync(rig.objectPath('door', old)) && rig.isCopied('door', young);
  });
  await rig.untilIdle();
  assert.equal(rig.state?.kept['door'], 1);
});

test('of a camera that left nothing on the disk the store is asked what it has', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const fileName = rig.record('door', 0);
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  rmSync(rig.copiesDir, { recursive: true });
  rmSync(rig.pathOf('door', ''), { recursive: true });
  rig.start();
  const expiry = expiryOf(['door'], [{ cameraId: 'door', beforeMs: START_MS + 2 * MINUTE_MS }]);
  rig.copier.expire(expiry);
  await until('it is known', () => rig.state?.kept['door'] === 1);
  rig.copier.expire(expiry);
  await until('it is gone', () => !existsSync(rig.objectPath('door', fileName)));
});

test('what may be there goes when it is deleted meanwhile, though nobody ever heard that it was', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const fileName = rig.record('door', 0);
  let isPut = false;
  between.fate = (method) => {
    isPut ||= method === 'PUT';
    return method === 'PUT' ? 'lose' : isPut ? { status: 500, code: '' } : 'pass';
  };
  rig.start({ via: between });
  await until('it is there', () => rig.isCopied('door', fileName));
  await until('that is not known', () => rig.state?.fault != null);
  rig.copier.forget('door', named(fileName));
  remove(rig, fileName);
  // As kill -9 does, nothing but what is written down is left.
  await rig.stop();
  between.fate = (method) => (method === 'DELETE' ? refused : 'pass');
  rig.start({ via: between });
  await until('it can not be deleted now', () => rig.state?.deletionFault != null);
  between.fate = () => 'pass';
  await until('it is gone', () => !existsSync(rig.objectPath('door', fileName)));
  await until('that is told', () => rig.state?.deletionFault === null);
  assert.deepEqual(rig.objects(), []);
});

test('one that is deleted while it is sent is not there; one that made room for others is', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [evicted, asked] = [rig.record('door', 0, 2 * PART_BYTES), rig.record('door', 1, 2 * PART_BYTES)];
  // Its parts are there, and are to be joined.
  const whenJoined = (fileName: string, then: () => void): void => {
    between.fate = (method, target) => {
      if (method === 'POST' && target.includes(fileName.slice(0, 30)) && target.includes('uploadId=')) then();
      return 'pass';
    };
  };
  whenJoined(evicted, () => {
    remove(rig, evicted);
    whenJoined(asked, () => {
      rig.copier.forget('door', named(asked));
      remove(rig, asked);
    });
  });
  rig.start({ via: between });
  await until('the first is kept, the second is gone', () => {
    return rig.state?.kept['door'] === 1 && rig.state.waiting === 0 && rig.state.copied === 1;
  });
  await until('it is gone', () => !existsSync(rig.objectPath('door', asked)));
  assert.ok(existsSync(rig.objectPath('door', evicted)));
});

test('a key that may delete nothing, and list no uploads, copies all the same', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [first, second] = [rig.record('door', 0), rig.record('door', 1)];
  between.fate = (method, target) =>
    method === 'DELETE' || /[?&]uploads=(?:&|$)/.test(target) ? refused : 'pass';
  rig.start({ via: between });
  await rig.untilIdle();
  rig.copier.forget('door', named(first));
  remove(rig, first);
  await until('it is told', () => /403 AccessDenied/.test(rig.state?.deletionFault ?? ''));
  const third = rig.record('door', 2);
  rig.copier.look();
  await until('another one is copied', () => rig.isCopied('door', third));
  assert.equal(rig.state?.fault, null);
  assert.ok(rig.isCopied('door', second));
  between.fate = () => 'pass';
  await until('what was to go is gone', () => !existsSync(rig.objectPath('door', first)));
});

test('what is to go while others are deleted goes, too', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [first, second] = [rig.record('door', 0), rig.record('door', 1)];
  rig.start({ via: between });
  await rig.untilIdle();
  between.fate = (method) => {
    if (method !== 'DELETE') return 'pass';
    between.fate = () => 'pass';
    rig.copier.forget('door', named(second));
    remove(rig, second);
    return 'pass';
  };
  rig.copier.forget('door', named(first));
  remove(rig, first);
  await until('both are gone', () => rig.objects().length === 0);
});

test('one that the store does not take holds up no other, and is tried again', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [bad, ...good] = [0, 1, 2, 3].map((minute) =>
    rig.record('door', minute, minute === 0 ? 2 * PART_BYTES : 10),
  );
  between.fate = (method, target) =>
    method === 'POST' && target.includes('uploadId=') ? { status: 400, code: 'InvalidPart' } : 'pass';
  rig.start({ via: between });
  await until('the others are copied', () => good.every((fileName) => rig.isCopied('door', fileName)));
  between.fate = () => 'pass';
  await until('so is this one', () => rig.isCopied('door', bad!));
  await rig.untilIdle();
  await until('no upload is left', async () => (await rig.client().listUploads()).length === 0);
});

test('what is older than its camera keeps it is not copied, though the disk keeps it', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [old, young] = [rig.record('door', 0), rig.record('door', 5)];
  rig.start({ via: between });
  rig.copier.expire(expiryOf(['door'], [{ cameraId: 'door', beforeMs: START_MS + 2 * MINUTE_MS }]));
  await until('the young one is copied', () => rig.isCopied('door', young));
  await rig.untilIdle();
  const puts = between.asked.filter((request) => request.startsWith('PUT '));
  assert.equal(puts.length, 1);
  assert.ok(!puts[0]!.includes(old.slice(0, 30)));
});

/** How many copies are written down as such. */
const kept = (rig: CopierRig): number => readCopies(copiesPath(rig.copiesDir, 'door'))?.table.kept ?? 0;

/** The same, once it was told that of a recording no more than some of its seconds is kept. */
const keptOf = (rig: CopierRig, fileName: string, ...seconds: number[]): number => {
  rig.copier.replace('door', [{ fileName, kept: seconds.map((at) => second(at)) }]);
  return kept(rig);
};

const LATE_MS = START_MS + 2 * MINUTE_MS;
const second = (at: number) => ({ fromMs: START_MS + at * 1_000, toMs: START_MS + at * 1_000 });

/** One of sixteen seconds that is in the store, cut to some of them on the disk; the whole, and its pieces there. */
const cutCopied = async (rig: CopierRig, ...seconds: number[]) => {
  const whole = writeClosed(rig.pathOf('door', ''), { startMs: START_MS, fragments: 16 });
  rig.start();
  await rig.untilIdle();
  const kept = seconds.map((at) => second(at));
  const cut = cutRecording({ archiveDir: rig.archiveDir, cameraId: 'door', fileName: whole, kept });
  assert.equal(cut.names.length, seconds.length);
  return { whole, pieces: cut.names };
};

test('one that was cut goes once pieces that are in the store have all that is kept of it', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const other = writeClosed(rig.pathOf('door', ''), { startMs: LATE_MS, fragments: 4 });
  const { whole, pieces } = await cutCopied(rig, 0, 6);
  const aside = join(rig.copiesDir, 'aside');
  renameSync(rig.pathOf('door', pieces[1]!), aside);
  assert.equal(keptOf(rig, whole, 0, 6), 2);
  rig.copier.look();
  await until('a piece is copied', () => kept(rig) === 3);
  renameSync(aside, rig.pathOf('door', pieces[1]!));
  assert.equal(keptOf(rig, whole, 0, 6), 3, 'another piece is not there yet');
  rig.copier.look();
  await until('it is copied, too', () => kept(rig) === 4);
  assert.equal(keptOf(rig, whole, 0, 6), 3);
  await until('the whole is gone', () => !existsSync(rig.objectPath('door', whole)));
  for (const fileName of [...pieces, other]) assert.ok(rig.isCopied('door', fileName), fileName);
});

test('one that was cut stays while something is kept of it that its pieces do not have', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const { whole, pieces } = await cutCopied(rig, 0, 6);
  rig.copier.look();
  await until('its pieces are copied', () => kept(rig) === 3);
  // Cut for want of space: protected afterwards, or an event of another kind.
  assert.equal(keptOf(rig, whole, 0, 6, 12), 3);
  // The disk needs none of them any more.
  for (const fileName of pieces) remove(rig, fileName);
  assert.equal(keptOf(rig, whole, 0, 6, 12), 3);
  rig.copier.forget('door', named(pieces[0]!));
  assert.equal(keptOf(rig, whole, 0, 6), 2, 'a piece that goes itself has nothing');
  assert.equal(keptOf(rig, whole, 6), 1);
});

test('one that was cut stays where a piece of it was lost before it was copied', { skip }, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const { whole, pieces } = await cutCopied(rig, 0, 6);
  remove(rig, pieces[1]!);
  rig.copier.look();
  await until('the other one is copied', () => kept(rig) === 2);
  assert.equal(keptOf(rig, whole, 0, 6), 2);
  assert.equal(keptOf(rig, whole, 6), 2);
  assert.ok(existsSync(rig.objectPath('door', whole)));
});

test('one that has left the disk as a whole is no cut one, whatever was recorded again at its time', {
  skip,
}, async (t) => {
  const rig = new CopierRig(t, await Versitygw.start(t));
  const folder = rig.pathOf('door', '');
  const whole = writeClosed(folder, { startMs: START_MS, fragments: 16 });
  rig.start();
  await rig.untilIdle();
  rig.copier.expire({ ...expiryOf(['door']), localBeforeMs: LATE_MS });
  await until('it has left the disk', () => !existsSync(rig.pathOf('door', whole)));
  // The clock was set back.
  writeClosed(folder, { startMs: START_MS + 3_000, fragments: 4, startReason: 'clock' });
  rig.copier.look();
  await until('it is copied', () => kept(rig) === 2);
  assert.equal(keptOf(rig, whole, 4), 2);
});

test('what was found in the store stays known while it is compared to the disk, and when that loses it', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [first, second] = [rig.record('door', 0), rig.record('door', 1)];
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  rmSync(rig.copiesDir, { recursive: true });
  between.fate = (method) => {
    if (method === 'HEAD') rmSync(rig.pathOf('door', second), { force: true });
    return 'pass';
  };
  rig.start({ via: between });
  await until('they are found', () => rig.state?.kept['door'] === 2);
  const leave = { ...expiryOf(['door']), localBeforeMs: LATE_MS + MINUTE_MS };
  rig.copier.expire(leave);
  await until('the second is lost', () => !existsSync(rig.pathOf('door', second)));
  rig.copier.expire(leave);
  await until('the first has left', () => {
    rig.copier.expire(leave);
    return !existsSync(rig.pathOf('door', first));
  });
  assert.equal(kept(rig), 2);
  assert.equal(rig.objects().length, 2);
});

test('a copy stays while its file is looked at, or sent, anew', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const [same, other] = [rig.record('door', 0), rig.record('door', 1)];
  rig.start({ via: between });
  await rig.untilIdle();
  const puts = () => between.asked.filter((request) => request.startsWith('PUT ')).length;
  const putsBefore = puts();
  // As another owner does.
  chmodSync(rig.pathOf('door', same), 0o600);
  rig.write('door', other, Buffer.alloc(2_000, 'other'));
  let wasThere = false;
  between.fate = (method) => {
    if (method === 'PUT') wasThere = [same, other].every((name) => existsSync(rig.objectPath('door', name)));
    return 'pass';
  };
  const leave = { ...expiryOf(['door']), localBeforeMs: LATE_MS + MINUTE_MS };
  await until('both have left', () => {
    rig.copier.expire(leave);
    return !existsSync(rig.pathOf('door', same)) && !existsSync(rig.pathOf('door', other));
  });
  assert.ok(wasThere);
  assert.equal(puts(), putsBefore + 1);
  const objects = [rig.objectName('door', same), rig.objectName('door', other, { epoch: 1 })];
  await until('what it was is gone', () => rig.objects().join() === objects.join());
  assert.equal(kept(rig), 2);
});

test('what may be there of another file does not take the place of a copy', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const fileName = rig.record('door', 0);
  rig.start({ via: between });
  await rig.untilIdle();
  rig.write('door', fileName, Buffer.alloc(2_000, 'other'));
  between.fate = (method) => {
    if (method !== 'PUT') return 'pass';
    remove(rig, fileName);
    return 'lose';
  };
  rig.copier.expire({ ...expiryOf(['door']), localBeforeMs: LATE_MS });
  const isThere = (epoch: number) => existsSync(rig.objectPath('door', fileName, { epoch }));
  await until('the other is there', () => isThere(1));
  await until('the other is gone', () => !isThere(1));
  assert.ok(isThere(0));
  assert.equal(kept(rig), 1);
  assert.deepEqual(
    [...readCopies(copiesPath(rig.copiesDir, 'door'))!.table].map(({ epoch }) => epoch),
    [0],
  );
});

test('what was taken for a copy by its bytes is one when the disk has made room meanwhile', {
  skip,
}, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const fileName = rig.record('door', 0);
  rig.write('door', '2026-11-21_08-30-00.detections', Buffer.from('what was seen'));
  rig.start();
  await rig.untilIdle();
  await rig.stop();
  writeCopies(copiesPath(rig.copiesDir, 'door'), CopyTable.empty);
  // As from a backup: the same bytes, another file.
  const bytes = readFileSync(rig.pathOf('door', fileName));
  remove(rig, fileName);
  rig.write('door', fileName, bytes);
  let looks = 0;
  between.fate = (method, target) => {
    if (method !== 'HEAD' || !target.includes('.mp4') || ++looks !== 2) return 'pass';
    remove(rig, fileName);
    return { status: 500, code: '' };
  };
  rig.start({ via: between });
  await until('it is known', () => kept(rig) === 1);
  const [copy] = readCopies(copiesPath(rig.copiesDir, 'door'))!.table;
  assert.equal(copy?.sidecarBytes, 'what was seen'.length);
  assert.ok(existsSync(rig.objectPath('door', fileName)));
});

test('one that the store does not tell of stays on the disk, and holds up no other', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const first = rig.record('door', 0);
  rig.start({ via: between });
  await rig.untilIdle();
  // A store that takes its time to say no.
  between.fate = async (method, target) => {
    if (method !== 'HEAD' || !target.includes(first.slice(0, 30))) return 'pass';
    await setTimeout(400);
    return refused;
  };
  rig.copier.expire({ ...expiryOf(['door']), localBeforeMs: START_MS + 2 * MINUTE_MS });
  await until('it is told', () =>
    rig.logged.lines.some(({ message }) => /do not leave the disk/.test(message)),
  );
  const second = rig.record('door', 1);
  rig.copier.look();
  await until('another one is copied', () => rig.isCopied('door', second));
  assert.ok(existsSync(rig.pathOf('door', first)));
  between.fate = () => 'pass';
  rig.copier.expire({ ...expiryOf(['door']), localBeforeMs: START_MS + 2 * MINUTE_MS });
  await until('it has left the disk', () => !existsSync(rig.pathOf('door', first)));
});

test('cameras of which the store tells nothing hold up none of the others', { skip }, async (t) => {
  const store = await Versitygw.start(t);
  const [rig, between] = [new CopierRig(t, store), await BetweenStore.start(t, store.port)];
  const refusing = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const held = refusing.flatMap((id) => [0, 1, 2].map((minute) => rig.pathOf(id, rig.record(id, minute))));
  const leaving = ['x', 'y'].flatMap((id) => [0, 1].map((minute) => rig.pathOf(id, rig.record(id, minute))));
  rig.start({ via: between });
  await rig.untilIdle();
  between.fate = (method, target) =>
    method === 'HEAD' && refusing.some((id) => target.includes(`/${id}/`)) ? refused : 'pass';
  // As often as ages are looked at: before all of those that are refused had their turn.
  let atMs = Number.NEGATIVE_INFINITY;
  await until('those of the other cameras have left the disk', () => {
    if (performance.now() - atMs > 2_000) {
      atMs = performance.now();
      rig.copier.expire({ ...expiryOf([...refusing, 'x', 'y']), localBeforeMs: START_MS + HOUR_MS });
    }
    return !leaving.some((path) => existsSync(path));
  });
  assert.ok(held.every((path) => existsSync(path)));
});
