import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { AppError } from '../../../src/base/errors.js';
import { createLogger } from '../../../src/base/log.js';
import type { ViewerPlace } from '../../../src/live/viewer-place.js';
import type { WallGuest } from '../../../src/live/wall/guest.js';
import { Walls } from '../../../src/live/wall/walls.js';
import type { RingOptions } from '../../../src/ring/capacity.js';
import { sourceKey } from '../../../src/ring/source-key.js';
import { selfSignedCertificate } from '../../support/fake-camera/certificate.js';
import { FakeClock } from '../../support/fake-clock.js';
import { WallPage } from '../../support/wall-page.js';
import { TestCamera } from '../test-camera.js';
import { HeldSocket } from './held-socket.js';

/** `all`: says four times a second what it took, by the clock of the test; `none`: when the test says so. */
type Acknowledging = 'all' | 'none';
const ACKNOWLEDGE_EVERY_MS = 250;

type EndReason = 'camera_deleted' | 'access_withdrawn';
type Held = { readonly camera: string | null; onEnd: (reason: EndReason) => void };

/** Walls over cameras of the test, which are called as their sources, and a server that hands over upgrades. */
export class WallRig {
  readonly clock = new FakeClock();
  readonly cameras = new Map<string, TestCamera>();
  readonly walls: Walls;
  /** Places that are held now; of the wall itself, that of no camera. */
  readonly places = new Set<Held>();
  /** Cameras that may not be watched, by the code of the refusal. */
  readonly forbidden = new Map<string, string>();
  readonly refused: string[] = [];
  readonly logged: string[] = [];
  readonly pages: WallPage[] = [];
  readonly server: Server;
  /** What happened, and who listens; `forgotten`: of how many nothing is known any more. */
  readonly events = { texts: [] as string[], forgotten: 0, listeners: new Set<() => void>() };
  readonly #isTls: boolean;
  held: HeldSocket | null = null;
  #isNextHeld = false;
  readonly #acknowledging = new Set<WallPage>();
  #acknowledgedMs = 0;

  private constructor(server: Server, isTls: boolean) {
    this.server = server;
    this.#isTls = isTls;
    this.walls = new Walls({
      clock: this.clock,
      log: createLogger((_level, message) => this.logged.push(message)),
      problemOf: (thrown) => ({ code: thrown instanceof AppError ? thrown.code : 'internal_error' }),
      sourceOf: (cameraId, stream) => {
        const key = sourceKey(cameraId, stream);
        return this.cameras.has(key) ? key : cameraId;
      },
      feeds: {
        follow: (key, listener) => {
          const camera = this.cameras.get(key);
          if (camera !== undefined) return camera.follow(listener);
          listener(null);
          return () => {};
        },
        isOnDemand: () => false,
      },
    });
    server.on('upgrade', (request, socket, head) => {
      try {
        this.walls.accept(request, this.#wrap(socket), head, this.#guest((request.url ?? '').slice(1)));
      } catch (thrown) {
        this.refused.push(thrown instanceof AppError ? thrown.code : String(thrown));
        socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n');
      }
    });
  }

  static async start(isTls = false): Promise<WallRig> {
    const server = isTls ? createTlsServer(selfSignedCertificate()) : createServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return new WallRig(server, isTls);
  }

  addCamera(key: string, options: Partial<RingOptions> = {}): TestCamera {
    const camera = new TestCamera(options);
    this.cameras.set(key, camera);
    return camera;
  }

  /** Of the page that is opened next, for a kernel that takes nothing while the test says so. */
  holdNext(): void {
    this.#isNextHeld = true;
  }

  /** A page that is open. */
  async open(acknowledges: Acknowledging = 'all', username = 'guard'): Promise<WallPage> {
    const { port } = this.server.address() as AddressInfo;
    const url = `${this.#isTls ? 'wss' : 'ws'}://127.0.0.1:${port}/${username}`;
    const page = new WallPage(url, { acknowledgeEveryMs: null });
    this.pages.push(page);
    if (acknowledges === 'all') this.#acknowledging.add(page);
    return page.opened();
  }

  /** Something happens. */
  happen(...ids: readonly string[]): void {
    for (const id of ids) this.events.texts.push(JSON.stringify({ topic: 'cameras', id, set: {} }));
    for (const listener of this.events.listeners) listener();
  }

  /** Ends places of a camera, or of walls. */
  end(camera: string | null, reason: EndReason): void {
    for (const held of [...this.places]) if (held.camera === camera) held.onEnd(reason);
  }

  /** Lets time pass in small steps, during which pages hear and answer. */
  async run(durationMs: number, stepMs = 20): Promise<void> {
    for (let passedMs = 0; passedMs < durationMs; passedMs += stepMs) {
      this.clock.advance(stepMs);
      await this.settled();
    }
  }

  /** All that was sent has been heard, by pages that read, and their answers as well. */
  async settled(): Promise<void> {
    const reading = this.pages.filter(({ webSocket }) => webSocket.readyState === 1 && !webSocket.isPaused);
    await Promise.all(reading.map((page) => page.roundTrip()));
    const nowMs = this.clock.monotonicMs();
    if (nowMs - this.#acknowledgedMs < ACKNOWLEDGE_EVERY_MS) return;
    this.#acknowledgedMs = nowMs;
    for (const page of reading) if (this.#acknowledging.has(page)) page.acknowledge();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { webSocket } of this.pages) webSocket.terminate();
    const stopped = this.walls.stop();
    this.clock.advance(5_000);
    await stopped;
    await new Promise((resolve) => void this.server.close(resolve));
  }

  #wrap(socket: Duplex): Duplex {
    if (!this.#isNextHeld) return socket;
    this.#isNextHeld = false;
    this.held = new HeldSocket(socket);
    return this.held;
  }

  #guest(username: string): WallGuest {
    const { release, onEnd } = this.#hold(null);
    const { events } = this;
    return {
      ...{ username, release, onEnd: (listener) => onEnd(listener), watch: (id) => this.#watch(id) },
      events: {
        get position() {
          return events.texts.length;
        },
        listen: (listener) => {
          events.listeners.add(listener);
          return () => void events.listeners.delete(listener);
        },
        since: (position) =>
          position < events.forgotten
            ? null
            : { position: events.texts.length, texts: events.texts.slice(position) },
      },
    };
  }

  #watch(cameraId: string): ViewerPlace {
    if (!this.cameras.has(cameraId)) throw new AppError('not_found', 'no such camera');
    const code = this.forbidden.get(cameraId);
    if (code !== undefined) throw new AppError(code, 'you may not');
    return this.#hold(cameraId);
  }

  #hold(camera: string | null): ViewerPlace {
    const held: Held = { camera, onEnd: () => {} };
    this.places.add(held);
    return {
      release: () => void this.places.delete(held),
      onEnd: (listener) => {
        held.onEnd = (reason) => {
          this.places.delete(held);
          listener(reason);
        };
      },
    };
  }
}

/** Of a frame that tells its number: which one it is. */
export const numberOf = ({ bytes }: { readonly bytes: Buffer }): number => bytes.readInt32LE(4);
