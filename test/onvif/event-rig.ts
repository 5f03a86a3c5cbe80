import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type Clock, type MonotonicMs, systemClock, type WallMs } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { EventCameras } from '../../src/onvif/events/event-cameras.js';
import type { PulledNotice } from '../../src/onvif/events/pulled-notices.js';
import { FakeDevice, type FakeDeviceOptions } from '../support/onvif/fake-device.js';
import { type EventDialect, FakeEvents, type FakeMessage } from '../support/onvif/fake-events.js';
import { until } from '../support/until.js';

export const stream = { codec: 'H264', width: 640, height: 480, uri: 'rtsp://x/1' };

/**
 * The service's clock, by which nothing takes time, however busy the machine is, and an hour is over as soon as somebody
 * says so; what is waited for is waited for as ever.
 */
const stillClock = (wallMs: number) => {
  let nowMs = 1_000;
  return {
    clock: {
      ...systemClock,
      monotonicMs: () => nowMs as MonotonicMs,
      wallMs: () => wallMs as WallMs,
    },
    pass: (ms: number) => {
      nowMs += ms;
    },
  };
};

/** From this on it is for how long an answer is waited for, not a pause. */
const LEAST_LIMIT_MS = 2_000;

/** Whoever is asked may take as long as the machine likes. */
export const patient = (clock: Clock): Clock => ({
  ...clock,
  after: (ms, callback) => (ms < LEAST_LIMIT_MS ? clock.after(ms, callback) : { cancel: () => {} }),
});

export type Rig = {
  readonly device: FakeDevice;
  readonly events: FakeEvents;
  readonly cameras: EventCameras;
  readonly noticed: PulledNotice[];
  readonly silent: string[];
  readonly logged: string[];
  readonly state: { hasTrack: boolean | null; isListed: boolean };
  readonly pass: (ms: number) => void;
};

export const rigOf = async (
  t: TestContext,
  dialect: EventDialect,
  options: Partial<FakeDeviceOptions> = {},
  profile = 'main',
  withClock: (clock: Clock) => Clock = patient,
  begin: Partial<Rig['state']> = {},
): Promise<Rig> => {
  const beganMs = Date.now();
  const events: FakeEvents = new FakeEvents(
    dialect,
    () => device.address,
    () => beganMs,
  );
  const device: FakeDevice = await FakeDevice.start({
    ...{ prefix: 's', auth: 'token', media: ['media'], faultStatus: 400, hasEvents: true },
    ...{ streams: [{ ...stream, token: 'main' }], instead: events.instead },
    ourMs: () => beganMs,
    ...options,
  });
  const { clock, pass } = stillClock(beganMs);
  const rig = { noticed: [] as PulledNotice[], silent: [] as string[], logged: [] as string[] };
  const state: Rig['state'] = { hasTrack: false, isListed: true, ...begin };
  const cameras = new EventCameras({
    clock: withClock(clock),
    log: createLogger((level, message, fields) =>
      rig.logged.push(`${level} ${message} ${JSON.stringify(fields)}`),
    ),
    cameras: () =>
      state.isListed
        ? [
            {
              ...{ cameraId: 'gate', address: device.address, profile },
              ...{ credentials: { user: 'admin', password: 'secret' }, certificate: 'any' },
            },
          ]
        : [],
    hasTrack: () => state.hasTrack,
    onNotices: (_cameraId, notices) => rig.noticed.push(...notices),
    onSilent: (cameraId) => rig.silent.push(cameraId),
  });
  const beat = setInterval(() => cameras.look(), 20);
  t.after(async () => {
    clearInterval(beat);
    // Whoever still waits for an answer gets none.
    await device.stop();
    await cameras.stop();
  });
  return { device, events, cameras, ...rig, state, pass };
};

export const motion = (isOn: boolean, more: Partial<FakeMessage> = {}): FakeMessage => ({
  topic: 'tns1:VideoSource/MotionAlarm',
  source: { Source: 'vs0' },
  data: { State: String(isOn) },
  operation: 'Changed',
  atMs: Date.now(),
  ...more,
});

/** Of two pictures. */
export const recorder = [1, 2].map((nth) => ({ ...stream, token: `ch${nth}`, source: `vs${nth}` }));

/** So many seconds go by for the service and the camera, which is asked all the while. */
export const live = async ({ pass, events }: Rig, seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second += 1) {
    await until('it is asked', () => events.isAsked);
    pass(1_000);
    events.pass(1_000);
  }
  await until('it is asked', () => events.isAsked);
};

export const count = ({ events }: Rig, wanted: string): number =>
  events.asked.filter(({ operation }) => operation === wanted).length;

export const heardFor = ({ cameras }: Rig): number => {
  const heard = cameras.heard('gate');
  assert.ok(typeof heard === 'object' && heard !== null, String(heard));
  return Math.round(heard.toMs - heard.fromMs);
};

export const toNext = (rig: Rig): Promise<true> =>
  until('the next one is there', async () => {
    await live(rig, 1);
    return rig.events.subscriptions === 2;
  });
