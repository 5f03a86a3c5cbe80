import { randomBytes } from 'node:crypto';
import type { Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import { cameraIdOf, sourceFields } from '../../ring/source-key.js';
import { FirstPictures } from '../first-pictures.js';
import type { LiveOutput } from '../live-output.js';
import { FrontDoor } from './door/front-door.js';
import type { OpenUdpDoor, PortRange } from './door/udp-door.js';
import { WaitingRoom } from './door/waiting-room.js';
import { whepError } from './errors.js';
import { type HostDeps, Hosts, type SessionMessage, type Watched } from './hosts.js';

export type WhepOptions = {
  /** Threads at most; the first is started by the first viewer. */
  readonly workerCount: number;
  /** The first free one of these is all sessions'. */
  readonly udpPorts: PortRange;
  /** Asked once, at the first viewer. */
  readonly addresses: () => readonly string[];
};

export type WhepDeps = HostDeps & {
  readonly openDoor: OpenUdpDoor;
  /** Somebody came or went. */
  readonly onChange: () => void;
};

/** A session that was answered. */
export type WhepSession = { readonly sessionId: string; readonly answerSdp: string };

/** One session, from its offer to its end. */
type OpenSession = {
  readonly id: string;
  readonly iceUfrag: string;
  readonly watched: Watched<OpenSession>;
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

/** WebRTC viewers of all cameras: the main thread's side, which never touches media. */
export class WhepService implements LiveOutput {
  readonly kind = 'whep';
  readonly #options: WhepOptions;
  readonly #deps: WhepDeps;
  readonly #hosts: Hosts<OpenSession>;
  readonly #sessions = new Map<string, OpenSession>();
  readonly #door: FrontDoor<OpenSession>;
  readonly #waiting = new WaitingRoom();
  readonly #firstPictures: FirstPictures;
  readonly #dropped = new Map<string, number>();
  #stopping: Promise<void> | null = null;

  constructor(options: WhepOptions, deps: WhepDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#firstPictures = new FirstPictures(deps.feeds, deps.clock);
    this.#hosts = new Hosts<OpenSession>(options.workerCount, deps, {
      onMessage: (message) => this.#onMessage(message),
      onGone: (sessions, reason) => {
        for (const session of sessions) this.#endSession(session, reason);
      },
    });
    const { openDoor: open, clock } = deps;
    this.#door = new FrontDoor(options.udpPorts, { open, clock }, ({ id, watched }, datagram, from) => {
      // A copy: what is passed on brings all of the memory along that it lies in.
      watched.host.worker.send({ type: 'check', sessionId: id, datagram: new Uint8Array(datagram), from });
    });
  }

  /**
   * Answers a viewer's offer, when the source has a picture if it is connected for us; `address` is whose it is. `onEnd` is called once when a session that was answered is
   * over, whoever ended it. Throws a WhepErrorCode.
   */
  async offer(
    cameraId: string,
    sdp: string,
    address: string,
    onEnd: (reason: string) => void,
  ): Promise<WhepSession> {
    const udpPort = await this.#door.port();
    await this.#firstPictures.of(cameraId);
    if (this.#stopping !== null) throw whepError('whep_unavailable', 'the service is stopping');
    if (this.#sessions.size >= MAX_SESSIONS)
      throw whepError('too_many_sessions', 'too many people are watching');
    const sessionId = randomBytes(16).toString('base64url');
    const oldest = this.#waiting.enter(sessionId, address);
    const watched = this.#watchedFor(cameraId, udpPort, sessionId);
    const { host } = watched;
    const answerSdp = await new Promise<string>((resolve, reject) => {
      const timer = this.#deps.clock.after(ANSWER_TIMEOUT_MS, () =>
        this.#turnOut(session, 'it took too long to answer'),
      );
      const session: OpenSession = {
        ...{ id: sessionId, watched, timer, onEnd, isAnswered: false, isConnected: false },
        iceUfrag: randomBytes(6).toString('base64url'),
        settle: (outcome) => (outcome instanceof AppError ? reject(outcome) : resolve(outcome)),
      };
      this.#enter(session);
      if (oldest !== null) this.#turnOut(this.#sessions.get(oldest), 'others waited for a connection, too');
      const { iceUfrag } = session;
      const addresses = this.#options.addresses();
      if (watched.hasFeed) host.worker.send({ type: 'offer', sessionId, iceUfrag, cameraId, addresses, sdp });
      else this.#refuse(session, whepError('no_picture', 'the camera has no picture yet'));
    });
    return { sessionId, answerSdp };
  }

  /** Ends a session of a camera. False: there is none by this name. */
  end(cameraId: string, sessionId: string, reason: string): boolean {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || cameraIdOf(session.watched.cameraId) !== cameraId) return false;
    this.#turnOut(session, reason);
    return true;
  }

  viewers(cameraId: string): number {
    if (this.#sessions.size === 0) return 0;
    let viewers = 0;
    for (const { isConnected } of this.#hosts.sessionsOf(cameraId)) if (isConnected) viewers += 1;
    return viewers;
  }

  /** Frames that viewers of the camera have missed since the service started. */
  droppedFrames(cameraId: string): number {
    return this.#dropped.get(cameraId) ?? 0;
  }

  /** The camera was deleted. */
  closeCamera(cameraId: string): void {
    for (const session of [...this.#sessions.values()]) {
      if (session.watched.cameraId === cameraId) this.#turnOut(session, 'camera_deleted');
    }
    this.#dropped.delete(cameraId);
  }

  /** Ends every session and every worker. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopOnce();
    return this.#stopping;
  }

  async #stopOnce(): Promise<void> {
    this.#firstPictures.stop();
    for (const session of [...this.#sessions.values()]) this.#endSession(session, 'the service stops');
    await this.#hosts.stop();
    await this.#door.close();
  }

  /** The camera in a worker that takes the session; one that finds none waits for nothing. */
  #watchedFor(cameraId: string, udpPort: number, sessionId: string): Watched<OpenSession> {
    try {
      return this.#hosts.watched(cameraId, udpPort);
    } catch (fault) {
      this.#waiting.leave(sessionId);
      throw fault;
    }
  }

  #onMessage(message: SessionMessage): void {
    if (message.type === 'dropped') {
      this.#dropped.set(message.cameraId, this.droppedFrames(message.cameraId) + message.frames);
      return;
    }
    const session = this.#sessions.get(message.sessionId);
    if (session === undefined) return;
    if (message.type === 'answer') this.#accept(session, message.sdp);
    else if (message.type === 'connected') this.#connect(session);
    else if (message.type === 'refused') this.#refuse(session, whepError(message.code, message.message));
    else this.#endSession(session, message.reason);
  }

  #enter(session: OpenSession): void {
    this.#sessions.set(session.id, session);
    this.#door.add(session.iceUfrag, session);
    this.#hosts.enter(session.watched, session);
  }

  #accept(session: OpenSession, sdp: string): void {
    session.timer.cancel();
    session.isAnswered = true;
    const { cameraId, host } = session.watched;
    this.#deps.log.info('WHEP session opened', { ...sourceFields(cameraId), worker: host.name });
    session.settle(sdp);
  }

  #connect(session: OpenSession): void {
    this.#waiting.leave(session.id);
    session.isConnected = true;
    this.#deps.onChange();
  }

  #refuse(session: OpenSession, fault: AppError): void {
    this.#remove(session);
    session.settle(fault);
  }

  #turnOut(session: OpenSession | undefined, reason: string): void {
    if (session === undefined) return;
    session.watched.host.worker.send({ type: 'end', sessionId: session.id, reason });
    this.#endSession(session, reason);
  }

  #endSession(session: OpenSession, reason: string): void {
    if (!this.#sessions.has(session.id)) return;
    this.#remove(session);
    if (!session.isAnswered) {
      session.settle(whepError('whep_unavailable', reason));
      return;
    }
    this.#deps.log.info('WHEP session ended', { ...sourceFields(session.watched.cameraId), reason });
    session.onEnd(reason);
    if (session.isConnected) this.#deps.onChange();
  }

  #remove(session: OpenSession): void {
    session.timer.cancel();
    this.#sessions.delete(session.id);
    this.#waiting.leave(session.id);
    this.#door.delete(session.iceUfrag);
    this.#hosts.leave(session.watched, session);
  }
}
