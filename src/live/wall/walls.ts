import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { StreamName } from '../../ring/source-key.js';
import { AttentiveTime } from '../attentive-time.js';
import type { CameraFeeds } from '../feeds.js';
import { closeCode, Handshakes } from '../handshakes.js';
import type { LiveOutput } from '../live-output.js';
import { OpenSockets } from '../open-sockets.js';
import { FrameMessages } from './frame-messages.js';
import type { ProblemOf, WallGuest } from './guest.js';
import { MessageMemory } from './message-memory.js';
import { type SeenObjects, seenText } from './seen-objects.js';
import { Sources } from './sources.js';
import { Wall, type WallDeps } from './wall.js';
import type { Drops } from './wall-stream.js';

export type WallErrorCode = 'too_many_walls' | 'no_picture' | 'not_found' | 'forbidden' | 'invalid_input';

/**
 * All that came in this time is read, framed and written together: of 36 cameras about three frames a page, with one
 * system call. It is also how late a frame can be for that.
 */
const PULSE_MS = 5;
const TICK_MS = 250;
const TELL_TIME_MS = 5_000;
/** So much of a pulse at most goes to pages that catch up. */
const CATCH_UP_MS = 2;
const MAX_WALLS = 256;
const MAX_WALLS_PER_USER = 32;
const RETRY_AFTER_SEC = 60;

export type WallsDeps = {
  readonly feeds: CameraFeeds;
  readonly clock: Clock;
  readonly log: Logger;
  readonly problemOf: ProblemOf;
  /** The source that a camera's stream is now: its main one where there is no other. */
  sourceOf(cameraId: string, stream: StreamName): string;
  /** Some camera has more or fewer viewers than before. */
  onChange?(): void;
};

/** All pages that show walls. */
export class Walls implements LiveOutput {
  readonly kind = 'wall';
  readonly #deps: WallsDeps;
  readonly #time: AttentiveTime;
  readonly #memory = new MessageMemory();
  readonly #handshakes = new Handshakes({ isTextRead: true });
  readonly #open: OpenSockets;
  readonly #walls = new Set<Wall>();
  readonly #sources: Sources;
  readonly #drops = new Map<string, Drops>();
  readonly #wallDeps: WallDeps;
  #pulse: Timer | null = null;
  #ticker: Timer | null = null;
  #toldTimeMs = Number.NEGATIVE_INFINITY;
  #stopping: Promise<void> | null = null;

  constructor(deps: WallsDeps) {
    this.#deps = deps;
    this.#time = new AttentiveTime(deps.clock);
    this.#open = new OpenSockets(deps.clock);
    const frames = new FrameMessages(this.#memory);
    const nowMs = (): number => this.#time.nowMs();
    this.#sources = new Sources({
      ...{ feeds: deps.feeds, log: deps.log, frames, nowMs },
      onEnd: (source, thrown) => {
        for (const wall of [...this.#walls]) wall.endSource(source, thrown);
      },
    });
    this.#wallDeps = {
      ...{ frames, nowMs, log: deps.log, problemOf: deps.problemOf },
      sourceOf: ({ camera, stream }) => this.#sources.get(deps.sourceOf(camera, stream)),
      dropsOf: (key) => this.#dropsOf(key),
      onLeft: (source) => this.#sources.leaveIfUnused(source),
      onChange: () => this.#onChange(),
    };
  }

  get count(): number {
    return this.#walls.size;
  }

  /** Upgrades a request that was let in. Throws `too_many_walls` or `bad_request` before anything is written. */
  accept(request: IncomingMessage, socket: Duplex, head: Buffer, guest: WallGuest): void {
    if (this.#stopping !== null) throw tooMany('the service is stopping');
    const own = [...this.#walls].filter((wall) => wall.guest.username === guest.username).length;
    if (this.#walls.size >= MAX_WALLS || own >= MAX_WALLS_PER_USER) throw tooMany('too many walls are open');
    this.#handshakes.upgrade(request, socket, head, (webSocket) => this.#add(webSocket, socket, guest));
  }

  /** Something was detected at a camera. */
  seen(cameraId: string, seen: SeenObjects): void {
    let text: string | null = null;
    for (const wall of this.#walls)
      wall.tellSeen(cameraId, () => {
        text ??= seenText(cameraId, seen);
        return text;
      });
  }

  /** In how many tiles the source is shown. */
  viewers(key: string): number {
    return this.#sources.find(key)?.streams.reduce((sum, { tileCount }) => sum + tileCount, 0) ?? 0;
  }

  /** Frames of the source that slow pages have missed; never falls while the camera is known. */
  droppedFrames(key: string): number {
    return this.#drops.get(key)?.frames ?? 0;
  }

  /** The camera was deleted. */
  closeCamera(key: string): void {
    const source = this.#sources.find(key);
    const thrown = new AppError<WallErrorCode>('not_found', 'the camera was deleted');
    if (source !== null) for (const wall of [...this.#walls]) wall.endSource(source, thrown);
    this.#sources.forget(key);
    this.#drops.delete(key);
  }

  /** Tells every page, and waits until they have gone, or cuts them off. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopOnce();
    return this.#stopping;
  }

  async #stopOnce(): Promise<void> {
    for (const wall of [...this.#walls]) wall.end(closeCode.serviceStops, 'the service is stopping');
    await this.#open.gone();
  }

  #add(webSocket: WebSocket, socket: Duplex, guest: WallGuest): void {
    const wall = new Wall(webSocket, socket, guest, this.#wallDeps);
    this.#open.add(webSocket);
    this.#walls.add(wall);
    webSocket.on('close', () => {
      guest.release();
      wall.leave();
      // Not before: until now its socket may read memory that is shared with others.
      this.#walls.delete(wall);
      this.#rest();
    });
    // What ws finds wrong with a page's frames ends the connection; nobody else is concerned.
    webSocket.on('error', () => wall.leave());
    guest.onEnd(() => wall.end(closeCode.accessWithdrawn, 'access was withdrawn'));
    this.#ticker ??= this.#deps.clock.every(TICK_MS, () => this.#tick());
  }

  #onChange(): void {
    this.#rest();
    this.#deps.onChange?.();
  }

  /** Nothing beats for nobody. */
  #rest(): void {
    if (this.#sources.size > 0) {
      this.#pulse ??= this.#deps.clock.every(PULSE_MS, () => this.#beat());
    } else {
      this.#pulse?.cancel();
      this.#pulse = null;
    }
    if (this.#walls.size > 0) return;
    this.#ticker?.cancel();
    this.#ticker = null;
  }

  #beat(): void {
    const nowMs = this.#time.nowMs();
    this.#reuseMemory();
    for (const wall of this.#walls) wall.look(nowMs);
    this.#sources.pump(nowMs);
    const untilMs = this.#deps.clock.monotonicMs() + CATCH_UP_MS;
    const hasTime = (): boolean => this.#deps.clock.monotonicMs() < untilMs;
    for (const wall of this.#walls) wall.catchUp(hasTime);
    for (const wall of this.#walls) wall.flush();
  }

  #reuseMemory(): void {
    for (const wall of this.#walls) if (wall.isSending) return;
    this.#memory.rewind();
  }

  #tick(): void {
    const nowMs = this.#time.nowMs();
    const isTimeTold = nowMs - this.#toldTimeMs >= TELL_TIME_MS;
    if (isTimeTold) this.#toldTimeMs = nowMs;
    for (const wall of [...this.#walls]) {
      if (isTimeTold)
        wall.say(JSON.stringify({ op: 'tick', server_ms: Math.round(this.#deps.clock.wallMs()) }));
      wall.tick(nowMs);
    }
  }

  #dropsOf(key: string): Drops {
    const drops = this.#drops.get(key) ?? { frames: 0 };
    this.#drops.set(key, drops);
    return drops;
  }
}

const tooMany = (message: string): AppError<WallErrorCode> =>
  new AppError('too_many_walls', message, { details: { retryAfterSec: RETRY_AFTER_SEC } });
