import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type CameraNotice, CameraNotices } from '../../src/events/kept/camera-notices.js';
import { EventLog } from '../../src/events/kept/event-log.js';
import { logLines } from '../archive/log-lines.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';

const setUp = (t: Parameters<typeof tempFolder>[0]) => {
  const clock = new FakeClock();
  const startMs = clock.wallMs();
  const path = join(tempFolder(t), 'events.db');
  const open = (): EventLog => {
    const log = new EventLog(path, { clock, log: logLines().log });
    t.after(() => log.stop());
    return log;
  };
  let events = open();
  let notices = new CameraNotices({ clock, log: events });
  const all = { cameraIds: null, types: null, labels: null, isReviewed: null, fromMs: null, toMs: null };
  return {
    clock,
    say: (state: CameraNotice['state'], key = 'yard', kind: CameraNotice['kind'] = 'rule') =>
      notices.onNotice('gate', {
        ...{ kind, key, label: key, topic: 'RuleEngine/FieldDetector/ObjectsInside', state },
        wallMs: clock.wallMs(),
      }),
    last: (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        clock.advance(1_000);
        notices.tick();
      }
    },
    end: () => notices.stop(),
    silent: () => notices.onSilent('gate'),
    stop: () => {
      notices.stop();
      events.stop();
    },
    restart: () => {
      events = open();
      notices = new CameraNotices({ clock, log: events });
    },
    seen: (): string[] =>
      events
        .page(all, { after: null, limit: 999 }, 'eve')
        .seen.map(({ event }) => {
          const at = (ms: number | null): string => (ms === null ? '' : String((ms - startMs) / 1_000));
          return `${event.type} ${event.label} ${at(event.fromMs)}-${at(event.toMs)}`;
        })
        .reverse(),
  };
};

test('a rule is one event while it is so, and motion another', (t) => {
  const { say, last, seen } = setUp(t);
  say('off');
  say('on');
  last(5);
  say('on', 'motion', 'motion');
  last(60);
  assert.deepEqual(seen(), ['rule yard 0-', 'motion motion 5-']);
  say('off');
  last(10);
  say('off', 'motion', 'motion');
  last(10);
  assert.deepEqual(seen(), ['rule yard 0-65', 'motion motion 5-75']);
});

test('one that flaps is one event, and so are lines that are crossed one after the other', (t) => {
  const { say, last, seen } = setUp(t);
  for (let times = 0; times < 10; times += 1) {
    say('on');
    last(1);
    say('off');
    say('once', 'line');
    last(8);
  }
  last(20);
  assert.deepEqual(seen(), ['rule yard 0-82', 'rule line 1-82']);
  say('on');
  assert.deepEqual(seen().at(-1), 'rule yard 110-');
});

test('a camera that falls silent says what is so when it is back', (t) => {
  const { say, last, silent, seen } = setUp(t);
  say('on');
  last(5);
  silent();
  last(5);
  say('on');
  last(5);
  silent();
  last(20);
  assert.deepEqual(seen(), ['rule yard 0-15']);
});

test('a camera with ever new rules makes a bounded number of events', (t) => {
  const { say, last, seen } = setUp(t);
  for (let second = 0; second < 60; second += 1) {
    for (let rule = 0; rule < 50; rule += 1) say('once', `${second}-${rule}`);
    last(1);
  }
  assert.ok(seen().length <= 61, `${seen().length} events`);
  last(120);
  say('on', 'after');
  assert.equal(seen().at(-1), 'rule after 180-');
});

test('what a camera notices while the service stops is left to the next one, which is told of it anew', (t) => {
  const { say, last, end, seen } = setUp(t);
  say('on');
  last(5);
  end();
  say('on');
  say('on', 'motion', 'motion');
  say('once', 'line');
  last(20);
  assert.deepEqual(seen(), ['rule yard 0-5']);
});

test('a service that stops ends them now, and one that was killed when it was last seen to run', (t) => {
  const { say, last, stop, restart, seen } = setUp(t);
  say('on');
  last(5);
  stop();
  restart();
  say('on', 'other');
  last(5);
  restart();
  assert.deepEqual(seen(), ['rule yard 0-5', 'rule other 5-10']);
});

test('a rule of which the camera never says that it is over ends some hours after it was told last, and may begin anew', (t) => {
  const { clock, say, last, seen } = setUp(t);
  say('on');
  clock.advance(3 * 3_600_000);
  last(1);
  say('on');
  clock.advance(3 * 3_600_000);
  last(1);
  assert.deepEqual(seen(), ['rule yard 0-'], 'it was told again meanwhile');
  clock.advance(3_600_000);
  last(1);
  assert.deepEqual(seen(), ['rule yard 0-25203']);
  say('off');
  say('on');
  assert.deepEqual(seen(), ['rule yard 0-25203', 'rule yard 25203-']);
});

test('rules that are called otherwise each time hide no motion, and a rule that is told once has its time', (t) => {
  const { say, last, seen } = setUp(t);
  for (let rule = 0; rule < 50; rule += 1) say('once', `object ${rule}`);
  say('on', 'motion', 'motion');
  say('on', 'gate');
  say('on', 'door');
  last(3);
  say('off', 'door');
  last(30);
  say('off', 'gate');
  say('off', 'motion', 'motion');
  last(20);
  assert.deepEqual(
    seen()
      .filter((line) => !line.includes('object'))
      .sort(),
    ['motion motion 0-33', 'rule door 0-3', 'rule gate 0-33'],
  );
});

test('a camera of which rules without end hold at once makes a bounded number of events, and remembers a bounded number', (t) => {
  const { say, last, seen } = setUp(t);
  for (let rule = 0; rule < 500; rule += 1) say('on', `${rule}`);
  last(120);
  assert.equal(seen().length, 32);
  for (let rule = 0; rule < 500; rule += 1) say('off', `${rule}`);
  last(120);
  assert.equal(seen().length, 62, '30 at once, and 32 that waited');
  assert.ok(seen().every((line) => line.endsWith('0-120')));
});
