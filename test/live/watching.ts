import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ClientOptions } from 'ws';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import type { CameraFeed } from '../../src/live/feeds.js';
import type { ViewerPlace } from '../../src/live/viewer-place.js';
import { WebSocketViews } from '../../src/live/websocket/websocket-views.js';
import type { RingOptions } from '../../src/ring/capacity.js';
import { Bell } from '../../src/ring/doorbell.js';
import { RingWriter } from '../../src/ring/writer.js';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';
import { FakeClock } from '../support/fake-clock.js';
import { KEY, nalOf, streamInfo, writeFrame } from '../support/ring.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';

export const FRAME_MS = 40;
const TICKS_PER_FRAME = 3600;
const START_CODE_BYTES = 4;

type Listener = (feed: CameraFeed | null) => void;

/** A camera without a camera: frames that tell their number, in a ring of this thread. */
export class TestCamera {
  readonly bell = new Bell();
  framesWritten = 0;
  isOnDemand = false;
  writer: RingWriter;
  readonly #options: Partial<RingOptions>;
  readonly #listeners = new Set<Listener>();
  #feed: CameraFeed | null = null;
  #firstDts = 0;

  constructor(options: Partial<RingOptions> = {}) {
    this.#options = options;
    this.writer = this.#makeRing();
    this.describe(1);
  }

  get followers(): number {
    return this.#listeners.size;
  }

  describe(marker: number): void {
    this.writer.setStreamInfo(streamInfo(marker));
  }

  follow(listener: Listener): () => void {
    this.#listeners.add(listener);
    if (this.#feed !== null) listener(this.#feed);
    return () => void this.#listeners.delete(listener);
  }

  /** A frame of one NAL unit that begins with the frame's number. */
  write(isKey: boolean, lengthBytes = 600, isRung = true): void {
    const number = this.framesWritten;
    this.framesWritten += 1;
    const dts = this.#firstDts + number * TICKS_PER_FRAME;
    writeFrame(this.writer, nalOf(number, lengthBytes), { dts, flags: isKey ? KEY : 0 });
    if (isRung) this.bell.ringIfNeeded();
  }

  /** The camera was switched off and on again: another ring, whose times begin anew. */
  restart(): void {
    this.writer.close();
    this.#firstDts = -this.framesWritten * TICKS_PER_FRAME;
    this.writer = this.#makeRing();
    this.describe(1);
  }

  /** Nobody wanted it; `restart` wakes it. */
  sleep(): void {
    this.#feed = null;
  }

  delete(): void {
    this.#feed = null;
    for (const listener of this.#listeners) listener(null);
  }

  #makeRing(): RingWriter {
    const show = (ring: SharedArrayBuffer): void => {
      this.#feed = { ring, bell: this.bell.memory };
      for (const listener of this.#listeners) listener(this.#feed);
    };
    const writer = new RingWriter(this.#options, { bell: this.bell, onReplaced: show });
    show(writer.ring);
    return writer;
  }
}

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
