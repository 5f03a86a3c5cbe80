import type { TestContext } from 'node:test';
import { createLogger } from '../../src/base/log.js';
import { Cameras } from '../../src/camera/fleet/cameras.js';
import type { FromCameraWorker, ToCameraWorker } from '../../src/camera/messages.js';
import { allCameras, type CameraOwners } from '../../src/camera/owners.js';
import { CameraRegistry } from '../../src/camera/registry.js';
import type { Camera as StoredCamera } from '../../src/store/cameras.js';
import { Store } from '../../src/store/store.js';
import { FakeClock } from '../support/fake-clock.js';
import { NoOffice } from '../support/no-office.js';
import { KEY, makeRing, nalOf, streamInfo, type TestRing, writeFrame } from '../support/ring.js';
import { tempFolder } from '../support/temp-folder.js';

export const stored = (id: string, changes: Partial<StoredCamera> = {}): StoredCamera => ({
  id,
  url: `rtsp://user:secret@${id}.local/1`,
  record: false,
  retention_days: 7,
  tags: [],
  folder_id: '',
  comment: '',
  sim_phone: '',
  sim_iccid: '',
  lazy_hls: true,
  transport: 'tcp',
  token_auth: false,
  traffic_limit: 0,
  disabled: false,
  detect: false,
  quirks: {},
  detection: {},
  sub_url: '',
  on_demand: false,
  record_mode: 'continuous',
  event_retention_days: 0,
  onvif: {},
  box: null,
  ...changes,
});

/** A registry on a real store and a real supervisor, with the test in the place of the workers. */
export const setUp = (
  t: TestContext,
  clock = new FakeClock(),
  path = `${tempFolder(t)}/registry.db`,
  owners: CameraOwners = allCameras('box'),
) => {
  /** How long a worker's thread needs to start. */
  const threads = { startMs: 0 };
  const disk = { hungSinceMs: null as number | null };
  const store = new Store(path);
  t.after(() => store.close());
  const told: ToCameraWorker[] = [];
  const events: string[] = [];
  const threadsHeard: ((message: FromCameraWorker) => void)[] = [];
  /** Whichever thread the camera lives in: of the others nobody hears it. */
  const say = (message: FromCameraWorker): void => {
    for (const hear of threadsHeard) hear(message);
  };
  let die: () => void = () => {};
  const cameras = new Cameras(
    { camerasPerWorker: 'auto', coreCount: 1 },
    {
      clock,
      log: createLogger(() => {}),
      onChange: () => registry.touch(),
      recordings: new NoOffice(),
      spawn: (_name, { onMessage, onLost }) => {
        threadsHeard.push(onMessage);
        die = () => onLost('killed by the test');
        const ready = () => onMessage({ type: 'ready', bell: new SharedArrayBuffer(8) });
        if (threads.startMs === 0) ready();
        else clock.after(threads.startMs, ready);
        return { send: (message) => told.push(message), stop: () => Promise.resolve(), kill: () => {} };
      },
    },
  );
  const registry: CameraRegistry = new CameraRegistry({
    clock,
    log: createLogger(() => {}),
    cameras,
    settings: store.cameras,
    change: store.change,
    traffic: store.traffic,
    activity: {
      viewers: () => ({ websocket: 1, wall: 4, hls: 2, whep: 3, rtsp: 5 }),
      isRecording: () => true,
      writtenMs: () => disk.hungSinceMs ?? clock.monotonicMs(),
      recordError: () => '',
      unrecordedFrames: () => 0,
      droppedFrames: () => 5,
      hasPtz: () => false,
      detectError: () => '',
    },
    owners,
    events: {
      onRemoved: (id) => events.push(`removed ${id}`),
      onMoved: () => {},
      onLocked: (id) => events.push(`locked ${id}`),
      onDisabled: (id) => events.push(`disabled ${id}`),
    },
  });
  registry.start();
  const attemptOf = (cameraId: string): number =>
    Math.max(
      0,
      ...told.map((message) =>
        message.type === 'connect' && message.cameraId === cameraId ? message.attempt : 0,
      ),
    );
  /** The camera's worker has a ring for it, new or taken over, and frames flow. */
  const stream = (cameraId: string, takenOver?: SharedArrayBuffer): TestRing => {
    if (takenOver === undefined) say({ type: 'released', cameraId });
    const ring = makeRing({}, takenOver);
    ring.writer.setStreamInfo(streamInfo(1));
    say({ type: 'ring', cameraId, ring: ring.writer.ring });
    say({ type: 'playing', cameraId, attempt: attemptOf(cameraId) });
    say({ type: 'streaming', cameraId, attempt: attemptOf(cameraId) });
    return ring;
  };
  const lose = (cameraId: string): void =>
    say({
      type: 'ended',
      cameraId,
      attempt: attemptOf(cameraId),
      fault: { code: 'closed', message: 'went away' },
    });
  return {
    clock,
    store,
    path,
    cameras,
    registry,
    threads,
    disk,
    told,
    events,
    stream,
    lose,
    say,
    die: () => die(),
    attemptOf,
  };
};

/** 25 frames of 1000 bytes with the second that passes meanwhile, and as many bytes on the wire as said. */
export const secondOf = (ring: TestRing, clock: FakeClock, wireBytes = 26_000): void => {
  for (let frame = 0; frame < 25; frame++) {
    writeFrame(ring.writer, nalOf(frame, 996), { dts: frame * 3_600, flags: frame === 0 ? KEY : 0 });
  }
  ring.writer.add('receivedBytes', wireBytes);
  clock.advance(1_000);
};
