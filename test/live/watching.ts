import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ClientOptions } from 'ws';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import type { ViewerPlace } from '../../src/live/viewer-place.js';
import { WebSocketViews } from '../../src/live/websocket/websocket-views.js';
import type { RingOptions } from '../../src/ring/capacity.js';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';
import { FakeClock } from '../support/fake-clock.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';
import { TestCamera } from './test-camera.js';

const START_CODE_BYTES = 4;

/** A viewer of frames that tell their number. */
export class NumberedViewer extends WebSocketViewer {
  get numbers(): number[] {
    return this.frames.map(({ bytes }) => bytes.readInt32LE(START_CODE_BYTES));
  }

  get lastNumber(): number {
    return this.frames.at(-1)?.bytes.readInt32LE(START_CODE_BYTES) ?? -1;
  }

  /** Wakes with each message: a test of an hour has no time to poll. */
  async untilFrame(number: number): Promise<void> {
    const signal = AbortSignal.timeout(20_000);
    try {
      while (this.lastNumber < number) await once(this.webSocket, 'message', { signal });
    } catch {
      const { lastNumber: last, closedWith, faults } = this;
      throw new Error(`no frame ${number} in 20 s; ${JSON.stringify({ last, closedWith, faults })}`);
    }
  }
}

/** Cameras of the test, the views, and a server that hands over upgrades. */
export class Watching {
  readonly clock = new FakeClock();
  readonly cameras = new Map<string, TestCamera>();
  readonly views: WebSocketViews;
  readonly places = new Set<ViewerPlace>();
  /** What was refused, by code. */
  readonly refused: string[] = [];
  /** Ends the viewings that are held now. */
  readonly endings: ((reason: 'camera_deleted' | 'access_withdrawn') => void)[] = [];
  readonly viewers: NumberedViewer[] = [];
  readonly server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #isTls: boolean;

  private constructor(server: Server, isTls: boolean) {
    this.server = server;
    this.#isTls = isTls;
    this.views = new WebSocketViews({
      clock: this.clock,
      log: createLogger(() => {}),
      feeds: {
        follow: (cameraId, listener) => {
          const camera = this.cameras.get(cameraId);
          if (camera !== undefined) return camera.follow(listener);
          listener(null);
          return () => {};
        },
        isOnDemand: (source) => this.cameras.get(source)?.isOnDemand === true,
      },
    });
    server.on('connection', (socket) => this.#sockets.add(socket));
    server.on('upgrade', (request, socket, head) => {
      const place: ViewerPlace = {
        onEnd: (listener) => this.endings.push(listener),
        release: () => void this.places.delete(place),
      };
      this.places.add(place);
      try {
        this.views.accept((request.url ?? '').slice(1), request, socket, head, place);
      } catch (thrown) {
        this.refused.push(thrown instanceof AppError ? thrown.code : String(thrown));
        socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n');
      }
    });
  }

  static async start(isTls = false): Promise<Watching> {
    const server = isTls ? createTlsServer(selfSignedCertificate()) : createServer();
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    return new Watching(server, isTls);
  }

  /** What the kernel hasn't taken of all that was sent. */
  get pendingBytes(): number {
    return [...this.#sockets].reduce((sum, { writableLength }) => sum + writableLength, 0);
  }

  addCamera(id: string, options: Partial<RingOptions> = {}): TestCamera {
    const camera = new TestCamera(options);
    this.cameras.set(id, camera);
    return camera;
  }

  get url(): string {
    return `${this.#isTls ? 'wss' : 'ws'}://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  watch(cameraId: string, options: ClientOptions = {}): NumberedViewer {
    const viewer = new NumberedViewer(`${this.url}/${cameraId}`, options);
    this.viewers.push(viewer);
    return viewer;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { webSocket } of this.viewers) webSocket.terminate();
    const stopped = this.views.stop();
    this.clock.advance(5_000);
    await stopped;
    await new Promise((resolve) => void this.server.close(resolve));
  }
}
