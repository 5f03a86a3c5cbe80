import { createLogger } from '../../../src/base/log.js';
import { ThreadStats } from '../../../src/base/thread-stats.js';
import type { CameraSettings } from '../../../src/camera/fleet/camera.js';
import { Cameras } from '../../../src/camera/fleet/cameras.js';
import type { CameraWorkerEvents, SpawnCameraWorker } from '../../../src/camera/fleet/worker-thread.js';
import type { FromCameraWorker, ToCameraWorker } from '../../../src/camera/messages.js';
import { FakeClock } from '../../support/fake-clock.js';
import { NoOffice } from '../../support/no-office.js';

/** Stands where a thread would: notes what it is told, says what the test wants. */
export class Puppet {
  readonly name: string;
  readonly told: ToCameraWorker[] = [];
  readonly bell = new SharedArrayBuffer(8);
  readonly stats: ThreadStats;
  stopped = false;
  /** Why it was killed, if it was. */
  killedFor: string | null = null;
  isDead = false;
  readonly #events: CameraWorkerEvents;

  constructor(name: string, events: CameraWorkerEvents, clock: FakeClock, isReady = true) {
    this.name = name;
    this.#events = events;
    this.stats = new ThreadStats(clock);
    if (!isReady) return;
    this.say({ type: 'thread', stats: this.stats.shared });
    this.say({ type: 'ready', bell: this.bell });
  }

  get isRunning(): boolean {
    return !this.stopped && !this.isDead;
  }

  beat(): void {
    this.stats.sample();
  }

  say(message: FromCameraWorker): void {
    this.#events.onMessage(message);
  }

  die(): void {
    this.isDead = true;
    this.#events.onLost('killed by the test');
  }

  /** The sessions that it was told to open, and that nobody has ended since. */
  sessions(): string[] {
    const open = new Set<string>();
    for (const message of this.told) {
      if (message.type === 'connect') open.add(message.cameraId);
      if (message.type === 'disconnect' || message.type === 'release') open.delete(message.cameraId);
    }
    return [...open];
  }

  camerasOpen(): string[] {
    const open = new Set<string>();
    for (const message of this.told) {
      if (message.type === 'open') open.add(message.cameraId);
      if (message.type === 'release') open.delete(message.cameraId);
    }
    return [...open].sort();
  }

  attemptOf(cameraId: string): number {
    const connects = this.told.filter(
      (message) => message.type === 'connect' && message.cameraId === cameraId,
    );
    const last = connects.at(-1);
    return last?.type === 'connect' ? last.attempt : 0;
  }
}

export const cameraSettings = (id: string, changes: Partial<CameraSettings> = {}): CameraSettings => ({
  id,
  source: { url: `rtsp://${id}/1`, transport: 'tcp' },
  host: id,
  disabled: false,
  isRecorded: false,
  ...changes,
});

export const many = (count: number): CameraSettings[] =>
  Array.from({ length: count }, (_, index) => cameraSettings(`camera-${index}`));

/** All cameras on a fake clock, with puppets for threads. */
export const setUp = () => {
  const clock = new FakeClock();
  const office = new NoOffice();
  const puppets: Puppet[] = [];
  /** What is told of cameras' own analytics. */
  const heard: string[] = [];
  const records: { level: string; message: string; fields: Readonly<Record<string, unknown>> }[] = [];
  const machine = { hasRoom: true };
  const spawn: SpawnCameraWorker = (name, events) => {
    const puppet = new Puppet(name, events, clock, machine.hasRoom);
    puppets.push(puppet);
    if (!machine.hasRoom) clock.after(0, () => puppet.die());
    return {
      send: (message) => {
        puppet.told.push(message);
        if (message.type !== 'disconnect') return;
        const { cameraId } = message;
        const attempt = puppet.attemptOf(cameraId);
        const fault = { code: 'aborted', message: 'the session was ended by us' };
        clock.after(50, () => puppet.say({ type: 'ended', cameraId, attempt, fault }));
      },
      kill: (reason) => {
        puppet.killedFor = reason;
      },
      stop: () => {
        puppet.stopped = true;
        return Promise.resolve();
      },
    };
  };
  const cameras = new Cameras(
    { camerasPerWorker: 'auto', coreCount: 2 },
    {
      clock,
      log: createLogger((level, message, fields) => records.push({ level, message, fields })),
      spawn,
      recordings: office,
      analytics: {
        onTrack: (id, isThere) => void heard.push(`${id} ${isThere ? 'there' : 'gone'}`),
        onNews: (id) => void heard.push(`${id} news`),
        onSeenThere: (id) => void heard.push(`${id} seen there`),
      },
    },
  );
  const puppetOf = (cameraId: string): Puppet =>
    puppets.findLast((puppet) => puppet.camerasOpen().includes(cameraId))!;
  const running = (): Puppet[] => puppets.filter((puppet) => puppet.isRunning);
  /** Lets time pass in which threads beat, and `eachSecond` is called. */
  const pass = (seconds: number, eachSecond: () => void = () => {}): void => {
    for (let second = 0; second < seconds; second += 1) {
      for (const puppet of running()) puppet.beat();
      clock.advance(1_000);
      eachSecond();
    }
  };
  return { heard, cameras, clock, office, puppets, puppetOf, running, pass, records, machine };
};
