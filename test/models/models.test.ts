import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { systemClock } from '../../src/base/clock.js';
import { collectGarbage } from '../../src/base/collect-garbage.js';
import { AppError } from '../../src/base/errors.js';
import { createLogger, type Logger } from '../../src/base/log.js';
import type { ModelErrorCode } from '../../src/models/errors.js';
import { type ModelLimits, Models } from '../../src/models/models.js';
import { type Answer, CountingOrigin } from './counting-origin.js';

const content = randomBytes(300_000);

type Rig = { directory: string; origin: CountingOrigin; models: Models; logged: string[] };

const rigOf = async (
  t: TestContext,
  limits: Partial<ModelLimits> = {},
  addressOf = (host: string): string => `http://${host}/files/`,
): Promise<Rig> => {
  const directory = mkdtempSync(join(tmpdir(), 'models-'));
  const origin = await CountingOrigin.start();
  const logged: string[] = [];
  const log: Logger = createLogger((level, message, fields) =>
    logged.push(JSON.stringify({ level, message, ...fields })),
  );
  const models = new Models(
    { directory, origin: new URL(addressOf(origin.host)), limits: { failureKeptMs: 0, ...limits } },
    { clock: systemClock, log },
  );
  await models.start();
  t.after(async () => {
    await models.stop();
    await origin.stop();
    rmSync(directory, { recursive: true, force: true });
  });
  return { directory, origin, models, logged };
};

const whole: Answer = (_request, response) => {
  response.writeHead(200, { 'content-length': content.length });
  response.end(content);
};

const codeOf = async (work: Promise<unknown>): Promise<ModelErrorCode | 'none'> => {
  try {
    await work;
    return 'none';
  } catch (fault) {
    assert.ok(fault instanceof AppError, String(fault));
    return fault.code as ModelErrorCode;
  }
};

/** The models that are there. */
const shown = (directory: string): string[] =>
  readdirSync(directory)
    .filter((name) => !/^\..*\.fetched$/.test(name))
    .sort();

test('20 who ask at once for an uncached file cause one fetch, and all get the whole file', async (t) => {
  const { models, origin, directory } = await rigOf(t);
  origin.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, 1_000));
    setTimeout(() => response.end(content.subarray(1_000)), 50);
  };
  const paths = await Promise.all(Array.from({ length: 20 }, () => models.path('net.onnx')));
  assert.equal(origin.requests.length, 1);
  assert.equal(origin.requests[0]!.path, '/files/net.onnx');
  for (const path of paths) assert.ok(readFileSync(path).equals(content));
  assert.deepEqual(shown(directory), ['net.onnx']);
  await models.path('net.onnx');
  assert.equal(origin.requests.length, 1, 'a cached file asks nobody');
});

test('whoever asks while a fetch ends gets its file, and causes no other fetch', {
  timeout: 120_000,
}, async (t) => {
  const { models, origin } = await rigOf(t);
  origin.answer = whole;
  for (let round = 0; round < 10; round++) {
    const asks: Promise<string>[] = [];
    for (let isDone = false; !isDone; ) {
      const some = Array.from({ length: 8 }, () => models.path(`n${round}.onnx`));
      asks.push(...some);
      const ask = Promise.race(some).then(() => {
        isDone = true;
      });
      // Not faster than the disk answers, or the fetch itself would wait behind those who ask.
      await Promise.race([ask, new Promise((resolve) => setTimeout(resolve, 1))]);
    }
    await Promise.all(asks);
    assert.equal(origin.requests.length, round + 1);
  }
});

test('a chunked answer is as good as one of known length', async (t) => {
  const { models, origin } = await rigOf(t);
  origin.answer = (_request, response) => void response.end(content);
  assert.ok(readFileSync(await models.path('net.onnx')).equals(content));
});

/** Transfers that go wrong, each in its own way. */
const broken: Record<string, Answer> = {
  'a body shorter than announced': (_request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, 1_000), () => response.destroy());
  },
  'a chunked body without its end': (_request, response) => {
    response.write(content.subarray(0, 1_000), () => response.destroy());
  },
  'a reset before the answer': (request) => request.socket.resetAndDestroy(),
  'a reset in the middle': (request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, 100_000), () => request.socket.resetAndDestroy());
  },
  'a server error': (_request, response) => response.writeHead(500).end('sorry'),
  'a refusal': (_request, response) => response.writeHead(403).end(),
  'a part instead of the whole': (_request, response) => response.writeHead(206).end(content),
  'an empty file': (_request, response) => response.writeHead(200, { 'content-length': 0 }).end(),
  'a compressed body': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(content),
  'a body that only ends with the connection': (request) =>
    request.socket.end(Buffer.concat([Buffer.from('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n'), content])),
  'no HTTP at all': (request) => request.socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'silence before the answer': () => {},
  'silence in the middle': (_request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, 1_000));
  },
  'too large by its own word': (_request, response) => {
    response.writeHead(200, { 'content-length': 3_000_000 });
    response.write(content);
  },
  'a redirect to itself': (request, response) =>
    response.writeHead(302, { location: request.url ?? '' }).end(),
  'a redirect to a file of ours': (_request, response) =>
    response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
  'a redirect to nowhere': (_request, response) => response.writeHead(302).end(),
};

test('a broken transfer is a failure of the origin, leaves nothing, and the next one is a new try', async (t) => {
  const { models, origin, directory } = await rigOf(t, { maxBytes: 2_000_000, idleTimeoutMs: 1_500 });
  for (const [name, answer] of Object.entries(broken)) {
    origin.answer = answer;
    assert.equal(await codeOf(models.path('net.onnx')), 'model_origin_failed', name);
    assert.deepEqual(readdirSync(directory), [], name);
  }
  origin.answer = whole;
  assert.ok(readFileSync(await models.path('net.onnx')).equals(content));
});

test('bytes without end stop at the size bound; bytes in drops stop at the time bound', {
  timeout: 30_000,
}, async (t) => {
  const { models, origin, directory } = await rigOf(t, {
    maxBytes: 2_000_000,
    idleTimeoutMs: 1_000,
    totalTimeoutMs: 400,
  });
  let sentBytes = 0;
  origin.answer = (_request, response) => {
    const pour = (): void => {
      while (!response.destroyed && response.write(content)) sentBytes += content.length;
    };
    response.on('drain', pour);
    pour();
  };
  assert.equal(await codeOf(models.path('endless.onnx')), 'model_origin_failed');
  assert.ok(sentBytes < 50_000_000);
  origin.answer = (_request, response) => {
    const drops = setInterval(() => {
      response.write('x');
      // Whatever isn't held goes: the time bound must not be among that.
      collectGarbage();
    }, 20);
    response.on('close', () => clearInterval(drops));
  };
  // The drops have no end of their own.
  assert.equal(await codeOf(models.path('drops.onnx')), 'model_origin_failed');
  assert.deepEqual(readdirSync(directory), []);
});

test('what the origin does not have is not found; without an origin nothing else is', async (t) => {
  const { models, origin, directory } = await rigOf(t);
  for (const status of [404, 410]) {
    origin.answer = (_request, response) => response.writeHead(status).end();
    assert.equal(await codeOf(models.path('net.onnx')), 'model_not_found');
  }
  const alone = new Models({ directory, origin: null }, { clock: systemClock, log: createLogger(() => {}) });
  assert.equal(await codeOf(alone.path('net.onnx')), 'model_not_found');
  writeFileSync(join(directory, 'net.onnx'), 'by hand');
  assert.equal(await alone.path('net.onnx'), join(directory, 'net.onnx'));
});

test('whoever asks is not told where the origin is; the log is', async (t) => {
  const { models, logged } = await rigOf(t, {}, () => 'http://127.0.0.1:1/');
  await assert.rejects(models.open('m.onnx'), (fault: AppError) => {
    assert.equal(fault.message, 'the models origin failed: ECONNREFUSED');
    return true;
  });
  assert.match(logged.join(), /"cause":"connect ECONNREFUSED 127\.0\.0\.1:1"/);
});

test('a failure is remembered for a moment, so that asking again costs the origin nothing', async (t) => {
  const { models, origin } = await rigOf(t, { failureKeptMs: 60_000 });
  assert.equal(await codeOf(models.path('a.onnx')), 'model_not_found');
  assert.equal(await codeOf(models.path('a.onnx')), 'model_not_found');
  assert.equal(origin.requests.length, 1);
  assert.equal(await codeOf(models.path('b.onnx')), 'model_not_found');
  assert.equal(origin.requests.length, 2);
});

test('at most eight files are fetched at a time', async (t) => {
  const { models, origin } = await rigOf(t);
  const held: (() => void)[] = [];
  origin.answer = (request, response) => held.push(() => whole(request, response));
  const fetches = Array.from({ length: 8 }, (_, index) => models.path(`n${index}.onnx`));
  while (held.length < 8) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(await codeOf(models.path('n8.onnx')), 'model_fetches_busy');
  for (const release of held) release();
  await Promise.all(fetches);
  origin.answer = whole;
  await models.path('n8.onnx');
});

test('fetched files are bounded together: those used longest ago go; what somebody put there stays', async (t) => {
  const { directory, models, origin } = await rigOf(t, { maxCacheBytes: 3 * content.length });
  origin.answer = whole;
  writeFileSync(join(directory, 'own.onnx'), content);
  for (const name of ['a', 'b', 'c']) {
    await models.path(`${name}.onnx`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.deepEqual(shown(directory), ['a.onnx', 'b.onnx', 'c.onnx', 'own.onnx']);
  await models.path('a.onnx');
  await new Promise((resolve) => setTimeout(resolve, 20));
  await models.path('d.onnx');
  assert.deepEqual(shown(directory), ['a.onnx', 'c.onnx', 'd.onnx', 'own.onnx']);
  await models.path('own.onnx');
  const smaller = new Models(
    { directory, origin: null, limits: { maxCacheBytes: content.length } },
    { clock: systemClock, log: createLogger(() => {}) },
  );
  await smaller.start();
  assert.deepEqual(shown(directory), ['d.onnx', 'own.onnx'], 'the bound was lowered');
});

test('a name is never a path', async (t) => {
  const { models, origin } = await rigOf(t);
  const names = [
    '../secret.onnx',
    '..%2fsecret.onnx',
    '..\\secret.onnx',
    '/etc/x.onnx',
    '.hidden.onnx',
    '..onnx',
    '.onnx',
    'a/b.onnx',
    'a.onnx\0',
    'a b.onnx',
    'a.onnx.part',
    'a.ONNX',
    'ä.onnx',
    '',
    `${'a'.repeat(201)}.onnx`,
    '.net.onnx.0123456789ab.part',
  ];
  for (const name of names) assert.equal(await codeOf(models.path(name)), 'model_name_invalid', name);
  assert.equal(origin.requests.length, 0);
});

test('a start removes unfinished files and nothing else', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'models-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  for (const name of ['.net.onnx.0123456789ab.part', '.gitkeep', 'notes.part', 'old.onnx']) {
    writeFileSync(join(directory, name), 'half');
  }
  const models = new Models({ directory, origin: null }, { clock: systemClock, log: createLogger(() => {}) });
  await models.start();
  assert.deepEqual(readdirSync(directory).sort(), ['.gitkeep', 'notes.part', 'old.onnx']);
  assert.equal(await codeOf(models.path('net.onnx')), 'model_not_found');
});

test('the start makes the directory; an unusable one costs only the models', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'models-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const log = createLogger(() => {});
  const fresh = new Models({ directory: join(root, 'a/b'), origin: null }, { clock: systemClock, log });
  await fresh.start();
  assert.ok(existsSync(join(root, 'a/b')));
  writeFileSync(join(root, 'file'), '');
  const files = join(root, 'origin');
  mkdirSync(files);
  writeFileSync(join(files, 'net.onnx'), content);
  const origin = pathToFileURL(files);
  const unusable = new Models({ directory: join(root, 'file'), origin }, { clock: systemClock, log });
  await unusable.start();
  assert.equal(await codeOf(unusable.path('net.onnx')), 'model_storage_failed');
});

test('file: origins: found, missing, a folder, a pipe', async (t) => {
  const files = mkdtempSync(join(tmpdir(), 'origin files-'));
  t.after(() => rmSync(files, { recursive: true, force: true }));
  const { models, directory } = await rigOf(t, {}, () => pathToFileURL(files).href);
  writeFileSync(join(files, 'net.onnx'), content);
  assert.ok(readFileSync(await models.path('net.onnx')).equals(content));
  assert.equal(await codeOf(models.path('missing.onnx')), 'model_not_found');
  mkdirSync(join(files, 'folder.onnx'));
  assert.equal(await codeOf(models.path('folder.onnx')), 'model_not_found');
  execFileSync('mkfifo', [join(files, 'pipe.onnx')]);
  assert.equal(await codeOf(models.path('pipe.onnx')), 'model_not_found');
  writeFileSync(join(files, 'empty.onnx'), '');
  assert.equal(await codeOf(models.path('empty.onnx')), 'model_origin_failed');
  assert.deepEqual(shown(directory), ['net.onnx']);
});

test('redirects are followed, and the credentials of the origin go to the origin alone and into no log', async (t) => {
  const elsewhere = await CountingOrigin.start();
  t.after(() => elsewhere.stop());
  const { models, origin, logged } = await rigOf(
    t,
    {},
    (host) => `http://robot:s3cr%40t@${host}/files?sig=h1dden`,
  );
  origin.answer = (request, response) => {
    if (request.url?.startsWith('/files/')) response.writeHead(302, { location: '/other' }).end();
    else response.writeHead(307, { location: `http://${elsewhere.host}/cdn` }).end();
  };
  elsewhere.answer = whole;
  assert.ok(readFileSync(await models.path('net.onnx')).equals(content));
  const basic = `Basic ${Buffer.from('robot:s3cr@t').toString('base64')}`;
  assert.deepEqual(
    origin.requests.map(({ path, headers }) => [path, headers.authorization]),
    [
      ['/files/net.onnx?sig=h1dden', basic],
      ['/other', basic],
    ],
  );
  assert.deepEqual(
    elsewhere.requests.map(({ path, headers }) => [path, headers.authorization]),
    [['/cdn', undefined]],
  );
  origin.answer = (_request, response) => response.writeHead(500).end();
  const fault = await models.path('other.onnx').catch((thrown) => thrown);
  assert.equal(logged.length, 2);
  assert.doesNotMatch(`${logged.join('\n')} ${fault.message} ${JSON.stringify(fault)}`, /robot|s3cr|h1dden/);
});

test('a stop ends the transfers that run', async (t) => {
  const { models, origin, directory } = await rigOf(t);
  origin.answer = (_request, response) => {
    response.writeHead(200, { 'content-length': content.length });
    response.write(content.subarray(0, 1_000));
  };
  const fetching = codeOf(models.path('net.onnx'));
  while (origin.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await models.stop();
  assert.equal(await fetching, 'model_origin_failed');
  assert.deepEqual(readdirSync(directory), []);
});
