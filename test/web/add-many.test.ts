import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { newCameraSchema } from '../../src/http/camera-schemas.js';
import type { CameraTestResult } from '../../src/web/data/types.js';
import { sameStreamKey, shownAddress, userOf, withLogin } from '../../src/web/pages/cameras/many/address.js';
import { expandBraces } from '../../src/web/pages/cameras/many/braces.js';
import { MAX_CAMERAS, nothingCommon, parseLines } from '../../src/web/pages/cameras/many/parse-lines.js';
import { addressesOf, indexOfFault, planOf } from '../../src/web/pages/cameras/many/plan.js';
import { TestQueue } from '../../src/web/pages/cameras/many/test-queue.js';
import { until } from '../support/until.js';

const none = { cameras: [], folders: [], tags: [] };
const known = {
  cameras: [
    { id: 'gate', url: 'rtsp://u:***@10.0.0.9/s1' },
    { id: '10.0.0.11', url: 'rtsp://h/1' },
  ],
  folders: [{ id: 'north', name: 'North Wing' }],
  tags: [
    { id: 'ptz', name: 'PTZ' },
    { id: 'door', name: 'Doors' },
  ],
};

const texts = (pattern: string, max = 1_000): readonly string[] | string => {
  const expanded = expandBraces(pattern, max);
  return typeof expanded === 'string' ? expanded : expanded.map(({ text }) => text);
};

const codesOf = (text: string): string[] => {
  const { items, faults } = parseLines(text, known);
  return [
    ...items.flatMap(({ line, faults: own }) => own.map(({ code, about }) => `${line} ${code} ${about}`)),
    ...faults.map(({ line, fault }) => `${line} ${fault.code} ${fault.about}`),
  ];
};

test('braces stand for ranges and lists, and for themselves where they are neither', () => {
  assert.deepEqual(texts('a{9..11}b'), ['a9b', 'a10b', 'a11b']);
  assert.deepEqual(texts('{08..10}'), ['08', '09', '10']);
  assert.deepEqual(texts('{3..1}'), ['3', '2', '1']);
  assert.deepEqual(texts('{1..9..4}'), ['1', '5', '9']);
  assert.deepEqual(texts('{1,2}/{main,sub}'), ['1/main', '1/sub', '2/main', '2/sub']);
  assert.deepEqual(texts('u:p{w}@h'), ['u:p{w}@h']);
  assert.deepEqual(texts('}{'), ['}{']);
  assert.equal(texts('{1..}'), 'range');
  assert.equal(texts('{a..f}'), 'range');
  assert.equal(texts('{0..999999999}{0..999999999}'), 'many');
  assert.equal(texts('{1..2}'.repeat(5_000)), 'many');
});

test('fifty cameras come of one line, each with an id of its own', () => {
  const { items, faults } = parseLines('rtsp://u:p@10.0.0.{11..60}/s1\n', known);
  assert.equal(items.length, 50);
  assert.deepEqual(faults, []);
  assert.deepEqual(items[1]?.camera, { id: '10.0.0.12', url: 'rtsp://u:p@10.0.0.12/s1' });
  assert.equal(items[0]?.camera.id, '10.0.0.11-2', 'there is a camera of that name already');
  const named = parseLines('rtsp://10.0.0.{11..12}/s1 Gate', none, {
    ...nothingCommon,
    prefix: 'north-',
  }).items;
  assert.deepEqual(
    named.map(({ camera }) => [camera.id, camera.comment]),
    [
      ['north-11', 'Gate 11'],
      ['north-12', 'Gate 12'],
    ],
  );
});

test('lists of addresses: bare ones, comments, empty lines, what is there already', () => {
  const { items } = parseLines('\uFEFF# the yard\r\n\r\n10.0.0.9/s1\r\ncam.local:8554 Yard\n', known);
  assert.deepEqual(
    items.map(({ line, camera, sameAs }) => [line, camera.url, camera.comment, sameAs]),
    [
      [3, 'rtsp://10.0.0.9/s1', undefined, 'gate'],
      [4, 'rtsp://cam.local:8554', 'Yard', ''],
    ],
  );
  assert.deepEqual(codesOf('rtsp://h/1\nhttp://h/1\nrtsp:// h\nrtsp://h:554/1\nrtsp://{a..b}/'), [
    '2 bad_address ',
    '3 bad_address ',
    '4 twice 1',
    '5 bad_range rtsp://{a..b}/',
  ]);
  assert.deepEqual(codesOf(`rtsp://h/${'x'.repeat(2_048)}`), ['1 too_long 2048']);
});

test('tables: columns in any order, folders and tags by name, every fault at its line', () => {
  const { items, faults } = parseLines(
    'Name;URL;Record;Tags;Folder;ID\n"Gate; ""north""\nside";rtsp://a/1;yes;doors, ptz;north wing;g1\n;rtsp://b/1;;;;\n',
    known,
  );
  assert.deepEqual(faults, []);
  assert.deepEqual(
    items.map(({ line, camera }) => [line, camera]),
    [
      [
        2,
        {
          ...{ id: 'g1', url: 'rtsp://a/1', comment: 'Gate; "north"\nside' },
          ...{ record: true, tags: ['door', 'ptz'], folder_id: 'north' },
        },
      ],
      [4, { id: 'b', url: 'rtsp://b/1' }],
    ],
  );
  const lines = [
    'id,url,sub_url,record,folder,tags,retention_days,color,url',
    'gate,rtsp://a/1,,maybe,south,x,-1',
    'a b,,nowhere',
    'c,rtsp://c/1,,,,,,,,,',
    'c,rtsp://d/1',
    'e,"rtsp://e/1',
  ];
  assert.deepEqual(codesOf(lines.join('\n')), [
    ...['2 bad_value record', '2 unknown_folder south', '2 unknown_tag x', '2 bad_value retention_days'],
    ...['2 id_taken gate', '3 no_address ', '3 bad_value sub_url', '3 bad_id a b', '4 too_many_cells 2'],
    ...['5 id_taken c', '6 open_quote ', '1 unknown_column color', '1 column_twice url'],
  ]);
});

test('a thousand at most, however they are written', () => {
  const line = (count: number) => Array.from({ length: count }, (_, nth) => `rtsp://h/${nth}`).join('\n');
  assert.equal(parseLines(line(1_000), none).items.length, 1_000);
  assert.deepEqual(parseLines(`${line(1_000)}\n\n`, none).faults, []);
  for (const many of [line(1_001), `url\n${line(1_001)}`]) {
    const { items, faults } = parseLines(many, none);
    assert.equal(items.length, 1_000);
    assert.equal(faults[0]?.fault.code, 'too_many_lines');
  }
  const { items, faults } = parseLines('rtsp://h/{1..999}\nrtsp://k/{1..2}\nrtsp://k/1', none);
  assert.equal(items.length, 1_000);
  assert.deepEqual(faults, [{ line: 2, fault: { code: 'too_many_cameras', about: '1000' } }]);
  assert.equal(parseLines('x'.repeat(3_000_000), none).faults[0]?.fault.code, 'too_much_text');
  assert.equal(
    new Set(parseLines('rtsp://h/{1..1000}', none).items.map(({ camera }) => camera.id)).size,
    1_000,
  );
});

test('whatever is pasted: it ends, within bounds, and what has no fault the service takes', () => {
  const alphabet = [...'{}.,;:/@"\n\t #rtspul0123abcé{}..,,\n'];
  const odd = fc.array(fc.constantFrom(...alphabet, 'rtsp://', 'url,', 'id;url\n', '{1..9}'), {
    maxLength: 60,
  });
  fc.assert(
    fc.property(odd, (parts) => {
      const { items } = parseLines(parts.join(''), known);
      assert.ok(items.length <= MAX_CAMERAS);
      const good = items.filter(({ faults }) => faults.length === 0);
      assert.equal(new Set([...good.map(({ camera }) => camera.id), 'gate']).size, good.length + 1);
      for (const { camera } of good) {
        const { error } = newCameraSchema.safeParse(camera);
        assert.equal(error, undefined, `${JSON.stringify(camera)}: ${error?.message}`);
      }
    }),
    { numRuns: 1_500 },
  );
});

test('braces give as many texts as they stand for, all different in what was varied', () => {
  fc.assert(
    fc.property(fc.nat(999), fc.nat(30), fc.nat(9), (from, more, second) => {
      const all = texts(`a{${from}..${from + more}}b{0..${second}}`);
      assert.equal(new Set(all).size, (more + 1) * (second + 1));
    }),
    { numRuns: 200 },
  );
});

test('addresses: what is shown has no secret, another login goes to the same stream', () => {
  for (const url of [
    'rtsp://joe:s3cret@10.0.0.1:554/a',
    'rtsp://joe:s3/cr@et@10.0.0.1:554/a',
    'rtsp://10.0.0.1:554/a?user=joe&password=s3cret',
    'rtsp://10.0.0.1:554/0/joe:s3cret/main',
  ]) {
    assert.match(shownAddress(url), /^10\.0\.0\.1:554\//);
    assert.doesNotMatch(shownAddress(url), /s3|cr@et/);
  }
  const mended = withLogin('rtsp://a:b@h/x', 'jo@e', 'p/w:1');
  assert.equal(mended, 'rtsp://jo%40e:p%2Fw%3A1@h/x');
  assert.equal(userOf(mended), 'jo@e');
  assert.equal(sameStreamKey(mended), sameStreamKey('RTSP://H:554/x'));
  assert.notEqual(sameStreamKey('rtsp://[fe80::1]/x'), sameStreamKey('rtsp://[fe80::1]:8554/x'));
});

const result = (set: Partial<CameraTestResult>): CameraTestResult => ({
  ...{ ok: true, code: 'ok', detail: '', codec: 'h264', width: 640, height: 360, fps: 25 },
  ...{ keyframe_ms: 2_000, reorder: 0, audio_codec: '', test_id: 't', ...set },
});

test('eight are tested at once, each once; who finds no place waits and tries again', async () => {
  let [running, most, busy] = [0, 0, 3];
  const asked: string[] = [];
  const waits: number[] = [];
  const queue = new TestQueue({
    test: async ({ url }) => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (busy > 0 && busy-- > 0)
        throw Object.assign(new Error('busy'), { code: 'tests_busy', retryAfterSec: 3 });
      if (url.endsWith('/13')) throw new Error('the service does not answer');
      asked.push(url);
      return result({ ok: !url.endsWith('/7'), code: url.endsWith('/7') ? 'unauthorized' : 'ok' });
    },
    wait: async (ms) => void waits.push(ms),
    onChange: () => {},
  });
  const { items } = parseLines('rtsp://h/{0..49}\nhttp://wrong', none);
  const plan = () => planOf(items, (source) => queue.stateOf(source), new Map([['rtsp://h/9', false]]));
  assert.deepEqual([plan().taken.length, plan().untestedTaken, plan().testable.length], [49, 49, 50]);
  const sources = items.filter(({ faults }) => faults.length === 0).map((item) => addressesOf(item)[0].asked);
  queue.add(sources);
  queue.add(sources);
  await until('all are tested', () => !queue.isBusy);
  assert.equal(most, 8);
  assert.ok(waits.length >= 1 && waits.every((ms) => ms === 3_000), String(waits));
  assert.equal(new Set(asked).size, 49);
  assert.equal(asked.length, 49);
  assert.deepEqual([plan().tested, plan().taken.length, plan().untestedTaken], [50, 47, 0]);
  assert.deepEqual(
    plan()
      .lines.filter(({ state }) => state !== 'good')
      .map(({ item, state }) => `${item.source} ${state}`),
    ['rtsp://h/7 failed', 'rtsp://h/13 failed', 'http://wrong wrong'],
  );
  queue.add([sources[7]!], true);
  await until('it is tested again', () => asked.length === 50);
  queue.add([{ url: 'rtsp://h/99', transport: 'tcp' }]);
  queue.close();
});

test('a login for all, and addresses that were mended, change what is asked and not what is written', () => {
  const common = { ...nothingCommon, user: 'joe', password: 'p@ss' };
  const text = 'rtsp://10.0.0.1/a\nrtsp://u:p@10.0.0.2/a\nrtsp://10.0.0.3/a';
  const mended = new Map([['rtsp://10.0.0.3/a', 'rtsp://10.0.0.33/b']]);
  const { items } = parseLines(text, none, { ...common, mended });
  assert.deepEqual(
    items.map(({ source, camera }) => [source, camera.url, camera.id]),
    [
      ['rtsp://10.0.0.1/a', 'rtsp://joe:p%40ss@10.0.0.1/a', '10.0.0.1'],
      ['rtsp://u:p@10.0.0.2/a', 'rtsp://u:p@10.0.0.2/a', '10.0.0.2'],
      ['rtsp://10.0.0.3/a', 'rtsp://10.0.0.33/b', '10.0.0.33'],
    ],
  );
  assert.deepEqual([indexOfFault('create[12].url'), indexOfFault('create')], [12, null]);
});

test('a smaller stream gets the login for all, is tested, and a line is good when both are', async () => {
  const csv = 'url,sub_url\nrtsp://h/1,rtsp://h/1s\nrtsp://h/2,rtsp://h/2s\nrtsp://h/3,\n';
  const mended = new Map([['rtsp://h/2s', 'rtsp://h/2t']]);
  const itemsOf = (given: typeof mended) =>
    parseLines(csv, none, { ...nothingCommon, user: 'joe', password: 'x', mended: given }).items;
  assert.deepEqual(
    itemsOf(mended).map(({ camera }) => camera.sub_url),
    ['rtsp://joe:x@h/1s', 'rtsp://h/2t', undefined],
  );
  const asked: string[] = [];
  const queue = new TestQueue({
    test: async ({ url }) => {
      asked.push(url);
      return result(url.endsWith('/2s') ? { ok: false, code: 'unauthorized' } : {});
    },
    wait: async () => {},
    onChange: () => {},
  });
  const items = itemsOf(new Map());
  const states = () =>
    planOf(items, (source) => queue.stateOf(source), new Map()).lines.map((line) => line.state);
  queue.add(items.map((item) => addressesOf(item)[0].asked));
  await until('streams are tested', () => !queue.isBusy);
  assert.deepEqual(states(), ['testing', 'testing', 'good']);
  queue.add(items.flatMap((item) => addressesOf(item).map((address) => address.asked)));
  await until('all are tested', () => !queue.isBusy);
  assert.deepEqual(states(), ['good', 'failed', 'good']);
  assert.equal(asked.length, 5);
});
