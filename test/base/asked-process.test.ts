import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { AskedProcess, Unanswered } from '../../src/base/asked-process.js';
import { systemClock } from '../../src/base/clock.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

type Question = { readonly what: 'hello' | 'wait' | 'release' | 'die' | 'hang' | 'stop itself' };
type Answer = { readonly said: string; readonly pid: number; readonly variables: readonly string[] };

/** Answers at once, or when it is told to release those that wait; dies, or answers nothing any more. */
const code = `
  import { answerParent, tellParent } from '${new URL('../../src/base/asked-process.js', import.meta.url).href}';
  const waiting = [];
  const answer = (id, said) =>
    tellParent({ id, said, pid: process.pid, variables: Object.keys(process.env) });
  answerParent(({ id, what }) => {
    if (what === 'wait') waiting.push(id);
    else if (what === 'die') process.exit(7);
    else if (what === 'hang') for (;;);
    else if (what === 'stop itself') process.kill(process.pid, 'SIGSTOP');
    else answer(id, process.argv[2] + ' ' + what);
    if (what === 'release') for (const other of waiting) answer(other, 'at last');
  }, () => {});
`;

const setUp = (t: TestContext, answerWithinMs = 60_000) => {
  const path = join(tempFolder(t), 'asked.mjs');
  writeFileSync(path, code);
  const gone: string[] = [];
  const asked = new AskedProcess<Question, Answer>(
    { entry: pathToFileURL(path), answerWithinMs, stderr: 'inherit' },
    { clock: systemClock, onGone: (reason) => void gone.push(reason) },
  );
  t.after(() => asked.stop());
  const ask = async (what: Question['what']): Promise<Answer> => {
    const answer = await asked.ask({ what }, ['first']);
    if (answer instanceof Unanswered) assert.fail(answer.reason);
    return answer;
  };
  return { asked, ask, gone };
};

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

test('one process answers all, in any order, and knows nothing of our environment', async (t) => {
  process.env['FRAMERING_TEST_SECRET'] = 'secret';
  t.after(() => delete process.env['FRAMERING_TEST_SECRET']);
  const { asked, ask, gone } = setUp(t);
  const waits = ask('wait');
  const hello = await ask('hello');
  assert.equal(hello.said, 'first hello');
  const [released, late] = await Promise.all([ask('release'), waits]);
  assert.deepEqual([released.said, late.said], ['first release', 'at last']);
  assert.equal(late.pid, hello.pid);
  const known = ['PATH', 'LD_LIBRARY_PATH', 'NODE_CHANNEL_FD', 'NODE_CHANNEL_SERIALIZATION_MODE'];
  assert.deepEqual(
    hello.variables.filter((name) => !known.includes(name)),
    [],
  );
  await asked.stop();
  assert.equal(isAlive(hello.pid), false);
  assert.ok((await asked.ask({ what: 'hello' }, [])) instanceof Unanswered, 'it is stopped for good');
  assert.deepEqual(gone, []);
});

test('whoever asked one that dies is told, and the next question starts another', async (t) => {
  const { asked, ask, gone } = setUp(t);
  const { pid } = await ask('hello');
  const outcomes = await Promise.all([asked.ask({ what: 'wait' }, []), asked.ask({ what: 'die' }, [])]);
  for (const outcome of outcomes)
    assert.equal(outcome instanceof Unanswered && outcome.reason, 'it ended with 7');
  assert.deepEqual(gone, ['it ended with 7']);
  assert.notEqual((await ask('hello')).pid, pid);
  asked.restart();
  await until('it is gone', () => gone.length === 2);
  assert.equal((await ask('hello')).said, 'first hello');
});

test('one that does not answer is ended, whatever it does', async (t) => {
  for (const what of ['hang', 'stop itself'] as const) {
    const { asked, ask, gone } = setUp(t, 5_000);
    const { pid } = await ask('hello');
    const outcome = await asked.ask({ what }, []);
    assert.equal(outcome instanceof Unanswered && outcome.reason, 'it did not answer');
    assert.deepEqual(gone, ['it did not answer']);
    await until('it is gone', () => !isAlive(pid));
  }
});

test('one that can not be started is told', async (t) => {
  const gone: string[] = [];
  const asked = new AskedProcess<Question, Answer>(
    { entry: pathToFileURL(join(tempFolder(t), 'none.mjs')), answerWithinMs: 60_000, stderr: 'ignore' },
    { clock: systemClock, onGone: (reason) => void gone.push(reason) },
  );
  assert.ok((await asked.ask({ what: 'hello' }, [])) instanceof Unanswered);
  assert.deepEqual(gone, ['it ended with 1']);
});
