import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { AppBrowser } from '../support/browser/app-page.js';
import { NatsServers, withoutNats } from '../support/nats-servers.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { type ClusterBox, ClusterRig } from './cluster-rig.js';

const run = promisify(execFile);
const CAMERA = 'camera-0';
/** A camera that is pinned comes over when its box was well for a minute, in which it stood still for no second. */
const PATIENCE_MS = 240_000;

type Span = { readonly start: string; readonly end: string; readonly box: string };
type Listed = Span & {
  readonly filename: string;
  readonly is_away?: true;
};

const isClosed = (name: string): boolean => name.includes('_to_');
const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const fileOf = ({ filename, box }: { filename: string; box: string }): string =>
  `file=${filename}&box=${box}`;

const listOf = async (box: ClusterBox): Promise<Listed[]> =>
  (await box.call('GET', `/api/cameras/${CAMERA}/archive`)).body;

const closedOf = (boxes: readonly ClusterBox[]): { filename: string; box: string }[] =>
  boxes.flatMap((box) =>
    box
      .files(CAMERA)
      .filter(isClosed)
      .map((filename) => ({ filename, box: box.name })),
  );

const pin = async (rig: ClusterRig, box: ClusterBox, files: number): Promise<void> => {
  const before = box.files(CAMERA).filter(isClosed).length;
  assert.equal((await rig.boxes[2]!.call('PUT', `/api/cameras/${CAMERA}`, { box: box.name })).status, 200);
  const has = (): boolean =>
    rig.writers(CAMERA).length === 1 && box.files(CAMERA).filter(isClosed).length >= before + files;
  await until(`${box.name} records it`, () => has() && rig.writers(CAMERA)[0] === box, {
    deadlineMs: PATIENCE_MS,
    describe: () => rig.logs(),
  });
};

/** By its playlist, all of its segments. */
const segmentsOf = async (box: ClusterBox, file: string): Promise<string[]> => {
  const playlist = await (await box.get(`/hls/${CAMERA}/archive.m3u8?${file}`)).text();
  const names = playlist.split('\n').filter((line) => line.startsWith('segment.ts'));
  assert.ok(names.length > 0, playlist);
  const digests: string[] = [];
  for (const name of names) {
    const answer = await box.get(`/hls/${CAMERA}/${name}`);
    assert.equal(answer.status, 200, name);
    digests.push(sha256(new Uint8Array(await answer.arrayBuffer())));
  }
  return digests;
};

const durationOf = async (address: string): Promise<number> => {
  const args = ['-v', 'error', '-show_entries', 'format=duration', '-of', 'csv=p=0', address];
  return Number((await run('ffprobe', args)).stdout);
};

/** The tape says of a time whose recording is away whose it is, instead of trying to play it. */
const seenInBrowser = async (
  t: TestContext,
  url: string,
  password: string,
  { box, start, end }: Span,
): Promise<void> => {
  const browser = await AppBrowser.launch();
  t.after(() => browser.close());
  const visitor = await browser.signedIn(url, { username: 'admin', password });
  const at = new Date((Date.parse(start) + Date.parse(end)) / 2).toISOString();
  await visitor.go(`/archive?cameras=${CAMERA}&t=${at}&span=60`);
  await visitor.page.locator('[data-gap]').getByText(`Recorded by box ${box}, which is away`).waitFor();
  assert.deepEqual(await visitor.axe(), []);
  assert.deepEqual(visitor.faults, []);
  await browser.close();
};

test('any box lists, plays and exports what all have recorded; of one that is lost it is said whose it is', {
  skip: withoutNats,
  timeout: 600_000,
}, async (t) => {
  const servers = await NatsServers.start(t);
  // What a box has that only stands still for a moment is not away.
  const env = { RECORD_FILE_SECONDS: '4', CLUSTER_LOST_MS: '15000' };
  const rig = await ClusterRig.start(t, servers, { cameras: 1, env });
  const [first, second, third] = rig.boxes as [ClusterBox, ClusterBox, ClusterBox];
  await pin(rig, first, 2);
  await pin(rig, second, 2);

  const onDisks = closedOf([first, second]);
  for (const box of rig.boxes) {
    await until(`${box.name} lists what all have`, async () => {
      const listed = (await listOf(box)).map(fileOf);
      return onDisks.every((one) => listed.includes(fileOf(one)));
    });
    const listed = await listOf(box);
    assert.ok(listed.every(({ is_away }) => is_away === undefined));
    const starts = listed.map(({ start }) => start);
    assert.deepEqual(starts, [...starts].sort());
  }

  for (const one of onDisks) {
    const holder = rig.boxes.find(({ name }) => name === one.box)!;
    const bytes = readFileSync(join(holder.archiveDir, CAMERA, one.filename));
    const segments = await segmentsOf(holder, fileOf(one));
    for (const box of rig.boxes) {
      const path = `/hls/${CAMERA}/recording.mp4?file=${one.filename}`;
      const whole = new Uint8Array(await (await box.get(path)).arrayBuffer());
      assert.equal(sha256(whole), sha256(bytes), `${one.filename} of ${one.box} at ${box.name}`);
      const range = await box.get(path, { range: 'bytes=1000-2999' });
      assert.equal(range.status, 206);
      assert.ok(Buffer.from(await range.arrayBuffer()).equals(bytes.subarray(1000, 3000)));
      assert.deepEqual(await segmentsOf(box, fileOf(one)), segments);
    }
  }

  const played = await durationOf(third.address(`/hls/${CAMERA}/archive.m3u8?${fileOf(onDisks[0]!)}`));
  assert.ok(played > 2, `${played} s`);
  const times = (await listOf(third)).filter(({ box }) => box !== third.name);
  const [from, to] = [times[0]!.start, times.at(-1)!.end];
  const clip = join(tempFolder(t), 'clip.mp4');
  const exported = await third.get(`/api/cameras/${CAMERA}/export?from=${from}&to=${to}`);
  assert.equal(exported.status, 200);
  writeFileSync(clip, new Uint8Array(await exported.arrayBuffer()));
  const spanSec = (Date.parse(to) - Date.parse(from)) / 1000;
  const exportedSec = await durationOf(clip);
  assert.ok(exportedSec > 8 && exportedSec < spanSec + 8, `${exportedSec} of ${spanSec} s`);

  const isOpenListed = async (): Promise<boolean> => {
    const open = (await listOf(third)).find(({ filename }) => filename.includes('_ongoing'));
    return open?.box === second.name && Date.parse(open.end) - Date.parse(open.start) > 1_500;
  };
  await until('what is being written is listed elsewhere as far as it is', isOpenListed, {
    deadlineMs: PATIENCE_MS,
  });

  first.service.process.kill('SIGKILL');
  const lost = onDisks.filter(({ box }) => box === first.name);
  for (const box of [second, third]) {
    const isAway = async (): Promise<boolean> =>
      (await listOf(box)).filter((one) => one.box === first.name).every(({ is_away }) => is_away === true);
    await until(`${box.name} knows that it is away`, isAway, { deadlineMs: PATIENCE_MS });
  }
  for (const box of [second, third]) {
    const away = (await listOf(box)).filter(({ is_away }) => is_away === true);
    assert.deepEqual(
      lost.filter((one) => !away.some((other) => fileOf(other) === fileOf(one))),
      [],
      'all of it is listed still',
    );
    const askedMs = performance.now();
    const refused = await box.call('GET', `/hls/${CAMERA}/archive.m3u8?${fileOf(lost[0]!)}`);
    assert.deepEqual([refused.status, refused.body.code], [503, 'box_unavailable']);
    assert.match(refused.body.detail, /box-0/);
    assert.ok(performance.now() - askedMs < 5_000, 'at once');
    const timeline = await box.call('GET', `/api/cameras/${CAMERA}/recordings`);
    assert.ok(timeline.body.away.every((one: { box: string }) => one.box === first.name));
    const rest = await box.get(`/hls/${CAMERA}/range.m3u8?from=${from}&to=${to}`);
    assert.equal(rest.status, 200, 'what is there is played');
  }
  const { away } = (await third.call('GET', `/api/cameras/${CAMERA}/recordings`)).body as { away: Span[] };
  const lengthMs = ({ start, end }: Span): number => Date.parse(end) - Date.parse(start);
  // What another box has of the same time is played.
  const longest = away.reduce((one, other) => (lengthMs(other) > lengthMs(one) ? other : one));
  await seenInBrowser(t, third.service.url, rig.password, longest);
  const range = `from=2026-01-01T00:00:00Z&to=${to}`;
  const partly = await third.call('DELETE', `/api/cameras/${CAMERA}/archive?${range}`);
  assert.deepEqual([partly.status, partly.body.code], [503, 'partly_deleted']);
  assert.match(partly.body.detail, /box-0/);
  const left = closedOf([second]).map(fileOf);
  assert.deepEqual(
    onDisks.filter((one) => left.includes(fileOf(one))),
    [],
    'the rest is deleted',
  );

  await first.start(t, rig.password);
  const isBack = async (): Promise<boolean> =>
    (await third.call('GET', `/hls/${CAMERA}/archive.m3u8?${fileOf(lost[0]!)}`)).status === 200;
  await until('it is back', isBack, { deadlineMs: PATIENCE_MS });
  const all = await third.call('DELETE', `/api/cameras/${CAMERA}/archive?${range}`);
  assert.equal(all.status, 200, JSON.stringify(all.body));
  assert.ok(all.body.deleted >= lost.length, JSON.stringify(all.body));
  const stays = closedOf([first]).map(fileOf);
  assert.deepEqual(
    lost.filter((one) => stays.includes(fileOf(one))),
    [],
  );
  for (const box of rig.boxes)
    await until(`${box.name} lists none of it`, async () => {
      const listed = (await listOf(box)).map(fileOf);
      return !lost.some((one) => listed.includes(fileOf(one)));
    });
});
