import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { AttentiveTime } from '../attentive-time.js';
import { Bells } from '../bells.js';
import type { CameraFeeds } from '../feeds.js';
import { closeCode, Handshakes } from '../handshakes.js';
import type { LiveOutput } from '../live-output.js';
import { OpenSockets } from '../open-sockets.js';
import type { ViewerPlace } from '../viewer-place.js';
import { CameraFanout } from './camera-fanout.js';
import { FrameMessages } from './frame-messages.js';
import { SpareTurns } from './spare-turns.js';
import { type Drops, Viewer } from './viewer.js';

export type WebSocketErrorCode = 'no_picture';

/** What takes nothing for this long is closed. */
const STALL_LIMIT_MS = 30_000;
const TICK_MS = 250;

type Watched = { readonly fanout: CameraFanout; unfollow: () => void };

/** All WebSocket viewers of all cameras. */
export class WebSocketViews implements LiveOutput {
  readonly kind = 'websocket';
  readonly #feeds: CameraFeeds;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #onChange: () => void;
  /** Viewers send pongs and pings; whatever else they say is ignored. */
  readonly #handshakes = new Handshakes({ isTextRead: false });
  readonly #time: AttentiveTime;
  readonly #spareTurns: SpareTurns;
  readonly #bells = new Bells();
  readonly #frames = new FrameMessages();
  /** Cameras with viewers. */
  readonly #watched = new Map<string, Watched>();
  /** Of every camera that was ever watched: the counts only grow, as long as the camera is known. */
  readonly #drops = new Map<string, Drops>();
  /** All that haven't closed, also those that are no viewers any more. */
  readonly #open: OpenSockets;
  #ticker: Timer | null = null;
  #stopping: Promise<void> | null = null;

  constructor(deps: {
    feeds: CameraFeeds;
    clock: Clock;
    log: Logger;
    /** Some camera has more or fewer viewers than before. */
    onChange?: () => void;
  }) {
    this.#feeds = deps.feeds;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#onChange = deps.onChange ?? (() => {});
    this.#time = new AttentiveTime(deps.clock);
    this.#spareTurns = new SpareTurns(deps.clock);
    this.#open = new OpenSockets(deps.clock);
  }

  /**
   * Upgrades a request that was let in, and shows the camera. Before anything is written to the socket it throws
   * `no_picture` or `bad_request`; then, and when the viewer has gone, the place is released.
   */
  accept(cameraId: string, request: IncomingMessage, socket: Duplex, head: Buffer, place: ViewerPlace): void {
    let isAccepted = false;
    try {
      if (this.#stopping !== null) throw noPicture('the service is stopping');
      const { fanout } = this.#watch(cameraId);
      if (!fanout.hasPicture) throw noPicture('the camera has sent no picture yet');
      this.#handshakes.upgrade(request, socket, head, (webSocket) => {
        isAccepted = true;
        this.#add(cameraId, fanout, webSocket, socket, place);
      });
    } finally {
      if (!isAccepted) {
        place.release();
        this.#leaveIfUnwatched(cameraId);
      }
    }
  }

  /** How many watch a camera. */
  viewers(cameraId: string): number {
    return this.#watched.get(cameraId)?.fanout.viewers.length ?? 0;
  }

  /** Frames that the camera's viewers lost because they were slow; never falls while the camera is known. */
  droppedFrames(cameraId: string): number {
    return this.#drops.get(cameraId)?.frames ?? 0;
  }

  /** The camera was deleted. */
  closeCamera(cameraId: string): void {
    this.#endAll(cameraId, closeCode.cameraDeleted, 'the camera was deleted');
    this.#drops.delete(cameraId);
  }

  /** Tells every viewer, and waits until they have gone, or cuts them off. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopOnce();
    return this.#stopping;
  }

  async #stopOnce(): Promise<void> {
    for (const cameraId of [...this.#watched.keys()]) {
      this.#endAll(cameraId, closeCode.serviceStops, 'the service is stopping');
    }
    await this.#open.gone();
  }

  #watch(cameraId: string): Watched {
    const known = this.#watched.get(cameraId);
    if (known !== undefined) return known;
    const fanout = new CameraFanout({
      time: this.#time,
      spareTurns: this.#spareTurns,
      bells: this.#bells,
      frames: this.#frames,
      onFault: (fault) => {
        this.#log.error('websocket viewers failed', { camera_id: cameraId, reason: messageOf(fault) });
        this.#endAll(cameraId, closeCode.internalError, 'the service failed');
      },
    });
    const watched: Watched = { fanout, unfollow: () => {} };
    this.#watched.set(cameraId, watched);
    // Before the feed: of an unknown camera it is gone at once.
    this.#ticker ??= this.#clock.every(TICK_MS, () => this.#tick());
    watched.unfollow = this.#feeds.follow(cameraId, (feed) => {
      if (feed === null) this.closeCamera(cameraId);
      else fanout.moveTo(feed);
    });
    return watched;
  }

  #leaveIfUnwatched(cameraId: string): void {
    const watched = this.#watched.get(cameraId);
    if (watched === undefined || watched.fanout.viewers.length > 0) return;
    this.#watched.delete(cameraId);
    watched.unfollow();
    watched.fanout.close();
    if (this.#watched.size > 0) return;
    this.#ticker?.cancel();
    this.#ticker = null;
  }

  #add(
    cameraId: string,
    fanout: CameraFanout,
    webSocket: WebSocket,
    socket: Duplex,
    place: ViewerPlace,
  ): void {
    const viewer = new Viewer(webSocket, socket, this.#dropsOf(cameraId));
    this.#open.add(webSocket);
    const leave = (): void => {
      fanout.remove(viewer);
      this.#leaveIfUnwatched(cameraId);
    };
    webSocket.on('close', () => {
      place.release();
      leave();
      this.#onChange();
    });
    // What ws finds wrong with a viewer's frames ends the connection; nobody else is concerned.
    webSocket.on('error', leave);
    webSocket.on('pong', (payload: Buffer) => fanout.onPong(viewer, payload));
    place.onEnd((reason) => {
      if (reason === 'camera_deleted') end(viewer, closeCode.cameraDeleted, 'the camera was deleted');
      else end(viewer, closeCode.accessWithdrawn, 'access was withdrawn');
      leave();
    });
    if (webSocket.readyState === webSocket.OPEN) fanout.add(viewer);
    this.#onChange();
  }

  #dropsOf(cameraId: string): Drops {
    const drops = this.#drops.get(cameraId) ?? { frames: 0 };
    this.#drops.set(cameraId, drops);
    return drops;
  }

  #endAll(cameraId: string, code: number, reason: string): void {
    const fanout = this.#watched.get(cameraId)?.fanout;
    for (const viewer of [...(fanout?.viewers ?? [])]) {
      fanout?.remove(viewer);
      end(viewer, code, reason);
    }
    this.#leaveIfUnwatched(cameraId);
  }

  #tick(): void {
    const nowMs = this.#time.nowMs();
    for (const [cameraId, { fanout }] of [...this.#watched]) {
      fanout.tick(nowMs);
      for (const viewer of [...fanout.viewers]) {
        if (viewer.answers.lagMs(nowMs) <= STALL_LIMIT_MS) continue;
        this.#log.info('a websocket viewer takes nothing', { camera_id: cameraId });
        fanout.remove(viewer);
        end(viewer, closeCode.tryAgainLater, 'nothing was taken for 30 s');
      }
      this.#leaveIfUnwatched(cameraId);
    }
  }
}

const end = ({ webSocket }: Viewer, code: number, reason: string): void => webSocket.close(code, reason);

const noPicture = (message: string): AppError<WebSocketErrorCode> => new AppError('no_picture', message);
