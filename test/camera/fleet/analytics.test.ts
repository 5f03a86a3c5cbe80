import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnalyticsNews } from '../../../src/camera/messages.js';
import { cameraSettings, setUp } from './puppets.js';

const news: AnalyticsNews = { scenes: [{ wallMs: 1_000, objects: [] }], notices: [] };

test('what a camera’s analytics tell is heard while its session has the track', () => {
  const { cameras, heard, puppetOf, pass } = setUp();
  cameras.setAll([cameraSettings('gate')]);
  pass(1);
  const puppet = puppetOf('gate');
  const attempt = puppet.attemptOf('gate');
  puppet.say({ type: 'analytics', cameraId: 'gate', news });
  assert.deepEqual(heard.splice(0), [], 'nobody has said that there is one');
  puppet.say({ type: 'metadata', cameraId: 'gate', attempt: attempt + 7, isThere: true });
  assert.deepEqual(heard.splice(0), [], 'of another session');
  puppet.say({ type: 'metadata', cameraId: 'gate', attempt, isThere: true });
  puppet.say({ type: 'analytics', cameraId: 'gate', news });
  assert.deepEqual(heard.splice(0), ['gate there', 'gate news']);
  assert.ok(cameras.documents.has('gate'));
  puppet.say({ type: 'ended', cameraId: 'gate', attempt, fault: { code: 'stalled', message: '' } });
  assert.deepEqual(heard.splice(0), ['gate gone']);
  assert.ok(!cameras.documents.has('gate'));
});

test('a thread that dies, and a camera that is disabled or deleted, take the track along', () => {
  const { cameras, heard, puppetOf, pass } = setUp();
  const begin = (): void => {
    cameras.setAll([cameraSettings('gate')]);
    pass(5);
    const puppet = puppetOf('gate');
    puppet.say({ type: 'metadata', cameraId: 'gate', attempt: puppet.attemptOf('gate'), isThere: true });
    assert.deepEqual(heard.splice(0), ['gate there']);
  };
  begin();
  puppetOf('gate').die();
  assert.deepEqual(heard.splice(0), ['gate gone']);
  begin();
  cameras.setAll([cameraSettings('gate', { disabled: true })]);
  assert.deepEqual(heard.splice(0), ['gate gone']);
  begin();
  cameras.remove('gate');
  assert.deepEqual(heard.splice(0), ['gate gone']);
});

test('documents leave a thread while somebody follows them, also another thread', () => {
  const { cameras, puppetOf, pass } = setUp();
  cameras.setAll([cameraSettings('gate')]);
  pass(1);
  const told = () =>
    puppetOf('gate').told.flatMap((message) => (message.type === 'documents' ? [message.isWanted] : []));
  assert.deepEqual(told(), []);
  const came: string[] = [];
  const stops = ['a', 'b'].map((name) => cameras.documents.follow('gate', () => came.push(name)));
  assert.deepEqual(told(), [true]);
  const say = (): void =>
    puppetOf('gate').say({ type: 'document', cameraId: 'gate', bytes: Buffer.from('<a/>'), wallMs: 5 });
  say();
  puppetOf('gate').die();
  pass(5);
  assert.deepEqual(told(), [true], 'the next thread is told');
  stops[0]!();
  stops[0]!();
  say();
  assert.deepEqual(came, ['a', 'b', 'b']);
  assert.deepEqual(told(), [true]);
  stops[1]!();
  assert.deepEqual(told(), [true, false]);
  say();
  assert.equal(came.length, 3);
});

test('it is known of which cameras the analytics are held off, until a session has them again', () => {
  const { cameras, puppetOf, pass } = setUp();
  cameras.setAll([cameraSettings('gate')]);
  pass(1);
  const play = (isHeldOff: boolean): void => {
    const [puppet, cameraId] = [puppetOf('gate'), 'gate'];
    const attempt = puppet.attemptOf(cameraId);
    puppet.say({ type: 'playing', cameraId, attempt });
    if (isHeldOff) puppet.say({ type: 'metadata_held_off', cameraId, attempt });
  };
  const end = (): void => {
    const puppet = puppetOf('gate');
    const fault = { code: 'stalled', message: '' };
    puppet.say({ type: 'ended', cameraId: 'gate', attempt: puppet.attemptOf('gate'), fault });
  };
  play(false);
  assert.equal(cameras.isMetadataHeldOff('gate'), false);
  end();
  pass(60);
  play(true);
  assert.equal(cameras.isMetadataHeldOff('gate'), true);
  end();
  assert.equal(cameras.isMetadataHeldOff('gate'), true, 'nobody has heard of it since');
  pass(60);
  play(false);
  assert.equal(cameras.isMetadataHeldOff('gate'), false);
  end();
  pass(60);
  play(true);
  cameras.remove('gate');
  cameras.setAll([cameraSettings('gate')]);
  assert.equal(cameras.isMetadataHeldOff('gate'), false);
});
