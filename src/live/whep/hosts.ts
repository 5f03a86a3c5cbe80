import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { CameraFeed, CameraFeeds } from '../feeds.js';
import type { FromWhepWorker, WhepWorkerOptions } from './messages.js';
import { makeCertificate } from './secure/certificate.js';
import type { SpawnWhepWorker, WhepWorkerHandle } from './worker-thread.js';

/** A worker thread, and the cameras that it serves. */
type Host<Session> = {
  readonly name: string;
  readonly worker: WhepWorkerHandle;
  readonly cameras: Map<string, Watched<Session>>;
  viewers: number;
  forgetThread: () => void;
  /** Looks whether it is still needed. */
  rest: Timer | null;
};

/** A camera that somebody watches, and a worker that serves those who do. */
export type Watched<Session> = {
  readonly cameraId: string;
  readonly host: Host<Session>;
  readonly sessions: Set<Session>;
  hasFeed: boolean;
  unfollow: () => void;
};

export type HostDeps = {
  readonly feeds: CameraFeeds;
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawn: SpawnWhepWorker;
  /** Told of each worker's figures; returns what forgets them. */
  readonly threads: { add(name: string, figures: SharedArrayBuffer): () => void };
};

/** What a worker tells of its sessions and of the frames that they missed. */
export type SessionMessage = Exclude<FromWhepWorker, { readonly type: 'thread' | 'log' }>;

export type HostEvents<Session> = {
  readonly onMessage: (message: SessionMessage) => void;
  /** The camera or the worker of these is gone. */
  readonly onGone: (sessions: readonly Session[], reason: string) => void;
};

/** A worker without viewers takes some 65 MB; one stays for whoever comes next. */
const WORKER_REST_MS = 10_000;

/**
 * So many viewers a worker as long as there may be another one. A keyframe of 100 KB takes a thread 0.7 ms a viewer,
 * so that the last of these has it 8 ms after the first.
 */
const VIEWERS_PER_WORKER = 12;

/** The WHEP workers: which of them reads which camera, for whom, and how many there are. */
export class Hosts<Session> {
  readonly #maxWorkers: number;
  readonly #deps: HostDeps;
  readonly #events: HostEvents<Session>;
  #workerOptions: WhepWorkerOptions | null = null;
  readonly #hosts: Host<Session>[] = [];
  #workersStarted = 0;
  readonly #bellIds = new WeakMap<SharedArrayBuffer, number>();
  #bells = 0;
  #isStopping = false;

  constructor(maxWorkers: number, deps: HostDeps, events: HostEvents<Session>) {
    this.#maxWorkers = maxWorkers;
    this.#deps = deps;
    this.#events = events;
  }

  /** The camera in the worker that takes the next session; throws where no worker can be started. */
  watched(cameraId: string, udpPort: number): Watched<Session> {
    const host = this.#hostFor(cameraId, udpPort);
    return host.cameras.get(cameraId) ?? this.#watch(cameraId, host);
  }

  enter(watched: Watched<Session>, session: Session): void {
    watched.sessions.add(session);
    watched.host.viewers += 1;
  }

  /** The session is over: a camera, or a worker, that nobody needs any more is given up. */
  leave(watched: Watched<Session>, session: Session): void {
    const { host } = watched;
    if (watched.sessions.delete(session)) host.viewers -= 1;
    this.#giveUp(watched);
    if (host.viewers > 0 || this.#isStopping) return;
    host.rest?.cancel();
    host.rest = this.#deps.clock.after(WORKER_REST_MS, () => this.#dismiss(host));
  }

  /** All sessions of a camera, in whichever worker. */
  *sessionsOf(cameraId: string): Iterable<Session> {
    for (const { cameras } of this.#hosts) yield* cameras.get(cameraId)?.sessions ?? [];
  }

  /** Ends every worker. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#hosts.splice(0).map((host) => stopWorker(host)));
  }

  #watch(cameraId: string, host: Host<Session>): Watched<Session> {
    const watched: Watched<Session> = {
      cameraId,
      host,
      sessions: new Set(),
      hasFeed: false,
      unfollow: () => {},
    };
    host.cameras.set(cameraId, watched);
    watched.unfollow = this.#deps.feeds.follow(cameraId, (feed) => this.#onFeed(watched, feed));
    return watched;
  }

  #onFeed(watched: Watched<Session>, feed: CameraFeed | null): void {
    const { cameraId } = watched;
    watched.hasFeed = feed !== null;
    if (feed === null) {
      this.#events.onGone([...watched.sessions], 'the camera is gone');
      return;
    }
    const { ring, bell } = feed;
    watched.host.worker.send({ type: 'feed', cameraId, ring, bell, bellId: this.#bellIdOf(bell) });
  }

  #bellIdOf(bell: SharedArrayBuffer): number {
    const known = this.#bellIds.get(bell);
    if (known !== undefined) return known;
    this.#bells += 1;
    this.#bellIds.set(bell, this.#bells);
    return this.#bells;
  }

  /** Nobody watches the camera any more: its worker needn't read it. */
  #giveUp(watched: Watched<Session>): void {
    const { cameraId, host } = watched;
    if (watched.sessions.size > 0 || host.cameras.get(cameraId) !== watched) return;
    host.cameras.delete(cameraId);
    watched.unfollow();
    host.worker.send({ type: 'forget', cameraId });
  }

  /**
   * The worker that has the camera already, since it makes its packets once for all; another one if it is full;
   * the one with the fewest viewers if all are.
   */
  #hostFor(cameraId: string, udpPort: number): Host<Session> {
    const byViewers = this.#hosts.toSorted((a, b) => a.viewers - b.viewers);
    const free = byViewers.filter(({ viewers }) => viewers < VIEWERS_PER_WORKER);
    const known = free.find(({ cameras }) => cameras.has(cameraId)) ?? free[0];
    if (known !== undefined) return known;
    return this.#hosts.length < this.#maxWorkers ? this.#startHost(udpPort) : byViewers[0]!;
  }

  #startHost(udpPort: number): Host<Session> {
    this.#workerOptions ??= {
      certificate: makeCertificate(this.#deps.clock.wallMs()),
      udpPort,
    };
    this.#workersStarted += 1;
    const name = `whep-worker-${this.#workersStarted}`;
    const worker = this.#deps.spawn(name, this.#workerOptions, {
      onMessage: (message) => this.#onMessage(host, message),
      onLost: (reason) => this.#onLost(host, reason),
    });
    const host: Host<Session> = {
      ...{ name, worker, cameras: new Map(), viewers: 0, rest: null },
      forgetThread: () => {},
    };
    this.#hosts.push(host);
    return host;
  }

  #onLost(host: Host<Session>, reason: string): void {
    host.forgetThread();
    if (this.#isStopping) return;
    this.#hosts.splice(this.#hosts.indexOf(host), 1);
    const sessions = [...host.cameras.values()].flatMap((watched) => [...watched.sessions]);
    this.#deps.log.error('WHEP worker died', { worker: host.name, viewers: sessions.length, reason });
    this.#events.onGone(sessions, 'the worker died');
  }

  #onMessage(host: Host<Session>, message: FromWhepWorker): void {
    switch (message.type) {
      case 'thread':
        host.forgetThread = this.#deps.threads.add(host.name, message.stats);
        return;
      case 'log':
        this.#deps.log[message.level](message.message, message.fields);
        return;
      default:
        this.#events.onMessage(message);
    }
  }

  /** Ends a worker that nobody needs any more. */
  #dismiss(host: Host<Session>): void {
    const at = this.#hosts.indexOf(host);
    if (at < 0 || host.viewers > 0 || this.#hosts.length === 1) return;
    this.#hosts.splice(at, 1);
    void stopWorker(host);
  }
}

const stopWorker = async <Session>(host: Host<Session>): Promise<void> => {
  host.rest?.cancel();
  await host.worker.stop();
  host.forgetThread();
};
