import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type CameraCondition, CameraWatch } from '../../src/events/kept/camera-watch.js';
import { EventLog } from '../../src/events/kept/event-log.js';
import { logLines } from '../archive/log-lines.js';
import { FakeClock } from '../support/fake-clock.js';
import { tempFolder } from '../support/temp-folder.js';

const well: CameraCondition = {
  ...{ cameraId: 'gate', isStreaming: true, isAtRest: false, isRecorded: true, isRecording: true, fault: '' },
};
const away: CameraCondition = { ...well, isStreaming: false, isRecording: false, fault: 'no route to it' };

test('what lasts is one event, from when it broke off until it came back, also over a restart', (t) => {
  const clock = new FakeClock();
  const startMs = clock.wallMs();
  const { log } = logLines();
  const events = new EventLog(join(tempFolder(t), 'events.db'), { clock, log });
  t.after(() => events.stop());
  let fault = '';
  const whyNotRecorded = () => 'disk';
  const begin = () => new CameraWatch({ clock, log: events, storageFault: () => fault, whyNotRecorded });
  let watch = begin();
  const last = (seconds: number, ...conditions: CameraCondition[]): void => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      watch.look(conditions);
    }
  };
  const all = { cameraIds: null, types: null, labels: null, isReviewed: null, fromMs: null, toMs: null };
  const seen = (): string[] =>
    events.page(all, { after: null, limit: 99 }, 'eve').seen.map(({ event }) => {
      const at = (ms: number | null): string => (ms === null ? '' : String((ms - startMs) / 1_000));
      return `${event.type} ${event.cameraId} ${at(event.fromMs)}-${at(event.toMs)} ${event.detail}`;
    });
  last(5, well);
  last(9, away);
  last(5, well);
  assert.deepEqual(seen(), [], 'what is over within 10 s never was');
  last(30, away);
  assert.deepEqual(seen(), ['recording_gap gate 20- camera_away', 'camera_lost gate 20- no route to it']);
  last(5, well);
  last(5, away);
  watch.stop();
  last(20, well);
  watch = begin();
  last(20, away);
  assert.deepEqual(seen(), ['recording_gap gate 20- camera_away', 'camera_lost gate 20- no route to it']);
  last(11, well);
  const lost = ['recording_gap gate 20-100 camera_away', 'camera_lost gate 20-100 no route to it'];
  assert.deepEqual(seen(), lost);
  last(20, { ...well, isRecording: false });
  last(11, well);
  assert.deepEqual(seen(), ['recording_gap gate 111-131 disk', ...lost]);
  fault = 'no disk';
  last(15, { ...away, isAtRest: true });
  fault = '';
  last(15, { ...well, isRecorded: false, isRecording: false });
  assert.deepEqual(seen(), ['storage  142-157 no disk', 'recording_gap gate 111-131 disk', ...lost]);
  last(12, away);
  last(1, { ...away, isAtRest: true });
  assert.deepEqual(seen().slice(0, 2), [
    'recording_gap gate 172-184 camera_away',
    'camera_lost gate 172-184 no route to it',
  ]);
  last(12, away);
  last(1);
  last(1, well);
  assert.equal(seen().length, 8);
});

test('a disk that takes nothing is an event at once, which tells what is so now', (t) => {
  const clock = new FakeClock();
  const { log } = logLines();
  const events = new EventLog(join(tempFolder(t), 'events.db'), { clock, log });
  t.after(() => events.stop());
  let fault = '';
  const watch = new CameraWatch({
    ...{ clock, log: events, storageFault: () => fault, whyNotRecorded: () => 'disk' },
  });
  const last = (seconds: number): void => {
    for (let second = 0; second < seconds; second++) {
      clock.advance(1_000);
      watch.look([]);
    }
  };
  const all = { cameraIds: null, types: null, labels: null, isReviewed: null, fromMs: null, toMs: null };
  const seen = (): string[] =>
    events
      .page(all, { after: null, limit: 99 }, 'eve')
      .seen.map(({ event }) => `${event.type} ${event.toMs === null ? 'on' : 'over'} ${event.detail}`);
  last(1);
  fault = 'nearly full';
  last(1);
  assert.deepEqual(seen(), ['storage on nearly full']);
  fault = 'full';
  last(1);
  assert.deepEqual(seen(), ['storage on full']);
  fault = '';
  last(5);
  fault = 'full';
  last(1);
  fault = '';
  last(11);
  assert.deepEqual(seen(), ['storage over full']);
});
