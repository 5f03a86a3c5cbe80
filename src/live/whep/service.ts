import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { CameraFeed, CameraFeeds } from '../feeds.js';
import type { LiveOutput } from '../live-output.js';
import { makeCertificate } from './certificate.js';
import { whepError } from './errors.js';
import { FrontDoor } from './front-door.js';
import type { FromWhepWorker, WhepWorkerOptions } from './messages.js';
import type { OpenUdpDoor, PortRange } from './udp-door.js';
import { WaitingRoom } from './waiting-room.js';
import type { SpawnWhepWorker, WhepWorkerHandle } from './worker-thread.js';

export type WhepOptions = {
  /** Threads at most; the first is started by the first viewer. */
  readonly workerCount: number;
  /** The first free one of these is all sessions'. */
  readonly udpPorts: PortRange;
  /** Asked once, at the first viewer. */
  readonly addresses: () => readonly string[];
};

export type WhepDeps = {
  readonly feeds: CameraFeeds;
  readonly clock: Clock;
  readonly log: Logger;
  readonly spawn: SpawnWhepWorker;
  readonly openDoor: OpenUdpDoor;
  /** Somebody came or went. */
  readonly onChange: () => void;
  /** Told of each worker's figures; returns what forgets them. */
  readonly threads: { add(name: string, figures: SharedArrayBuffer): () => void };
};

/** A session that was answered. */
export type WhepSession = { readonly sessionId: string; readonly answerSdp: string };

type Host = {
  readonly name: string;
  readonly worker: WhepWorkerHandle;
  readonly cameras: Map<string, Watched>;
  viewers: number;
  forgetThread: () => void;
  /** Looks whether it is still needed. */
  rest: Timer | null;
};

/** A camera that somebody watches, and a worker that serves those who do. */
type Watched = {
  readonly cameraId: string;
  readonly host: Host;
  readonly sessions: Set<Seat>;
  hasFeed: boolean;
  unfollow: () => void;
};

/** One session, from its offer to its end. */
type Seat = {
  readonly id: string;
  readonly iceUfrag: string;
  readonly watched: Watched;
  readonly timer: Timer;
  readonly onEnd: (reason: string) => void;
  isAnswered: boolean;
  /** Its handshakes are done: somebody watches. */
  isConnected: boolean;
  readonly settle: (outcome: string | AppError) => void;
};

/** Each takes 1 to 3 MB, and 4 ms of CPU a second once it is connected. */
const MAX_SESSIONS = 1_000;
const ANSWER_TIMEOUT_MS = 8_000;
/** A worker without viewers takes some 65 MB; one stays for whoever comes next. */
const WORKER_REST_MS = 10_000;

/**
 * So many viewers a worker as long as there may be another one. A keyframe of 100 KB takes a thread 0.7 ms a viewer,
 * so that the last of these has it 8 ms after the first.
 */
const VIEWERS_PER_WORKER = 12;

/** WebRTC viewers of all cameras: the main thread's side, which never touches media. */
export class WhepService implements LiveOutput {
  readonly kind = 'whep';
  readonly #options: WhepOptions;
  readonly #deps: WhepDeps;
  #workerOptions: WhepWorkerOptions | null = null;
  readonly #hosts: Host[] = [];
  #workersStarted = 0;
  readonly #seats = new Map<string, Seat>();
  readonly #door: FrontDoor<Seat>;
  readonly #waiting = new WaitingRoom();
  readonly #dropped = new Map<string, number>();
  readonly #bellIds = new WeakMap<SharedArrayBuffer, number>();
  #bells = 0;
  #stopping: Promise<void> | null = null;

  constructor(options: WhepOptions, deps: WhepDeps) {
    this.#options = options;
    this.#deps = deps;
    const { openDoor: open, clock } = deps;
    this.#door = new FrontDoor(options.udpPorts, { open, clock }, ({ id, watched }, datagram, from) => {
      // A copy: what is passed on brings all of the memory along that it lies in.
      watched.host.worker.send({ type: 'check', sessionId: id, datagram: new Uint8Array(datagram), from });
    });
  }

  /**
   * Answers a viewer's offer; `address` is whose it is. `onEnd` is called once when a session that was answered is
   * over, whoever ended it. Throws a WhepErrorCode.
   */
  async offer(
    cameraId: string,
    sdp: string,
    address: string,
    onEnd: (reason: string) => void,
  ): Promise<WhepSession> {
    const udpPort = await this.#door.port();
    if (this.#stopping !== null) throw whepError('whep_unavailable', 'the service is stopping');
    if (this.#seats.size >= MAX_SESSIONS)
      throw whepError('too_many_sessions', 'too many people are watching');
    const sessionId = randomBytes(16).toString('base64url');
    const oldest = this.#waiting.enter(sessionId, address);
    const watched = this.#placeFor(cameraId, udpPort, sessionId);
    const { host } = watched;
    const answerSdp = await new Promise<string>((resolve, reject) => {
      const timer = this.#deps.clock.after(ANSWER_TIMEOUT_MS, () =>
        this.#turnOut(seat, 'it took too long to answer'),
      );
      const seat: Seat = {
        ...{ id: sessionId, watched, timer, onEnd, isAnswered: false, isConnected: false },
        iceUfrag: randomBytes(6).toString('base64url'),
        settle: (outcome) => (outcome instanceof AppError ? reject(outcome) : resolve(outcome)),
      };
      this.#seat(seat);
      if (oldest !== null) this.#turnOut(this.#seats.get(oldest), 'others waited for a connection, too');
      const { iceUfrag } = seat;
      const addresses = this.#options.addresses();
      if (watched.hasFeed) host.worker.send({ type: 'offer', sessionId, iceUfrag, cameraId, addresses, sdp });
      else this.#refuse(seat, whepError('no_picture', 'the camera has no picture yet'));
    });
    return { sessionId, answerSdp };
  }

  /** Ends a session of a camera. False: there is none by this name. */
  end(cameraId: string, sessionId: string, reason: string): boolean {
    const seat = this.#seats.get(sessionId);
    if (seat === undefined || seat.watched.cameraId !== cameraId) return false;
    this.#turnOut(seat, reason);
    return true;
  }

  viewers(cameraId: string): number {
    let viewers = 0;
    for (const { cameras } of this.#hosts) {
      for (const { isConnected } of cameras.get(cameraId)?.sessions ?? []) if (isConnected) viewers += 1;
    }
    return viewers;
  }

  /** Frames that viewers of the camera have missed since the service started. */
  droppedFrames(cameraId: string): number {
    return this.#dropped.get(cameraId) ?? 0;
  }

  /** The camera was deleted. */
  closeCamera(cameraId: string): void {
    for (const seat of [...this.#seats.values()]) {
      if (seat.watched.cameraId === cameraId) this.#turnOut(seat, 'camera_deleted');
    }
    this.#dropped.delete(cameraId);
  }

  /** Ends every session and every worker. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopOnce();
    return this.#stopping;
  }

  async #stopOnce(): Promise<void> {
    for (const seat of [...this.#seats.values()]) this.#endSeat(seat, 'the service stops');
    await Promise.all(this.#hosts.splice(0).map(stopWorker));
    await this.#door.close();
  }

  /** The camera in a worker that takes the session; one that finds no place waits for nothing. */
  #placeFor(cameraId: string, udpPort: number, sessionId: string): Watched {
    try {
      const host = this.#hostFor(cameraId, udpPort);
      return host.cameras.get(cameraId) ?? this.#watch(cameraId, host);
    } catch (fault) {
      this.#waiting.leave(sessionId);
      throw fault;
    }
  }

  #watch(cameraId: string, host: Host): Watched {
    const watched: Watched = {
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

  #onFeed(watched: Watched, feed: CameraFeed | null): void {
    const { cameraId } = watched;
    watched.hasFeed = feed !== null;
    if (feed === null) {
      for (const seat of [...watched.sessions]) this.#endSeat(seat, 'the camera is gone');
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
  #leave(watched: Watched): void {
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
  #hostFor(cameraId: string, udpPort: number): Host {
    const byViewers = this.#hosts.toSorted((a, b) => a.viewers - b.viewers);
    const free = byViewers.filter(({ viewers }) => viewers < VIEWERS_PER_WORKER);
    const known = free.find(({ cameras }) => cameras.has(cameraId)) ?? free[0];
    if (known !== undefined) return known;
    return this.#hosts.length < this.#options.workerCount ? this.#startHost(udpPort) : byViewers[0]!;
  }

  #startHost(udpPort: number): Host {
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
    const host: Host = {
      ...{ name, worker, cameras: new Map(), viewers: 0, rest: null },
      forgetThread: () => {},
    };
    this.#hosts.push(host);
    return host;
  }

  #onLost(host: Host, reason: string): void {
    host.forgetThread();
    if (this.#stopping !== null) return;
    this.#hosts.splice(this.#hosts.indexOf(host), 1);
    const seats = [...host.cameras.values()].flatMap(({ sessions }) => [...sessions]);
    this.#deps.log.error('WHEP worker died', { worker: host.name, viewers: seats.length, reason });
    for (const seat of seats) this.#endSeat(seat, 'the worker died');
  }

  #onMessage(host: Host, message: FromWhepWorker): void {
    switch (message.type) {
      case 'thread':
        host.forgetThread = this.#deps.threads.add(host.name, message.stats);
        return;
      case 'log':
        this.#deps.log[message.level](message.message, message.fields);
        return;
      case 'dropped':
        this.#dropped.set(message.cameraId, this.droppedFrames(message.cameraId) + message.frames);
        return;
    }
    const seat = this.#seats.get(message.sessionId);
    if (seat === undefined) return;
    if (message.type === 'answer') this.#accept(seat, message.sdp);
    else if (message.type === 'connected') this.#connect(seat);
    else if (message.type === 'refused') this.#refuse(seat, whepError(message.code, message.message));
    else this.#endSeat(seat, message.reason);
  }

  #seat(seat: Seat): void {
    this.#seats.set(seat.id, seat);
    this.#door.add(seat.iceUfrag, seat);
    seat.watched.sessions.add(seat);
    seat.watched.host.viewers += 1;
  }

  #accept(seat: Seat, sdp: string): void {
    seat.timer.cancel();
    seat.isAnswered = true;
    const { cameraId, host } = seat.watched;
    this.#deps.log.info('WHEP session opened', { camera_id: cameraId, worker: host.name });
    seat.settle(sdp);
  }

  #connect(seat: Seat): void {
    this.#waiting.leave(seat.id);
    seat.isConnected = true;
    this.#deps.onChange();
  }

  #refuse(seat: Seat, fault: AppError): void {
    this.#remove(seat);
    seat.settle(fault);
  }

  #turnOut(seat: Seat | undefined, reason: string): void {
    if (seat === undefined) return;
    seat.watched.host.worker.send({ type: 'end', sessionId: seat.id, reason });
    this.#endSeat(seat, reason);
  }

  #endSeat(seat: Seat, reason: string): void {
    if (!this.#seats.has(seat.id)) return;
    this.#remove(seat);
    if (!seat.isAnswered) {
      seat.settle(whepError('whep_unavailable', reason));
      return;
    }
    this.#deps.log.info('WHEP session ended', { camera_id: seat.watched.cameraId, reason });
    seat.onEnd(reason);
    if (seat.isConnected) this.#deps.onChange();
  }

  #remove(seat: Seat): void {
    seat.timer.cancel();
    this.#seats.delete(seat.id);
    this.#waiting.leave(seat.id);
    this.#door.delete(seat.iceUfrag);
    const { host } = seat.watched;
    if (seat.watched.sessions.delete(seat)) host.viewers -= 1;
    this.#leave(seat.watched);
    if (host.viewers > 0 || this.#stopping !== null) return;
    host.rest?.cancel();
    host.rest = this.#deps.clock.after(WORKER_REST_MS, () => this.#dismiss(host));
  }

  /** Ends a worker that nobody needs any more. */
  #dismiss(host: Host): void {
    const at = this.#hosts.indexOf(host);
    if (at < 0 || host.viewers > 0 || this.#hosts.length === 1) return;
    this.#hosts.splice(at, 1);
    void stopWorker(host);
  }
}

const stopWorker = async (host: Host): Promise<void> => {
  host.rest?.cancel();
  await host.worker.stop();
  host.forgetThread();
};
