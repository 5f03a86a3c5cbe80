import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Bells } from '../../ring/bells.js';
import { sourceFields } from '../../ring/source-key.js';
import { AttentiveTime } from '../attentive-time.js';
import type { CameraFeeds } from '../feeds.js';
import { FIRST_PICTURE_WAIT_MS } from '../first-pictures.js';
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

type Watched = {
  readonly fanout: CameraFanout;
  /** Who waits for the first picture, and until when. */
  readonly awaiting: Map<Viewer, number>;
  unfollow: () => void;
};

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
   * `no_picture` or `bad_request`; then, and when the viewer has gone, the place is released. Of a camera that is
   * connected for its viewers the first picture is waited for instead.
   */
  accept(source: string, request: IncomingMessage, socket: Duplex, head: Buffer, place: ViewerPlace): void {
    let isAccepted = false;
    try {
      if (this.#stopping !== null) throw noPicture('the service is stopping');
      const watched = this.#watch(source);
      if (!watched.fanout.hasPicture && !this.#feeds.isOnDemand(source))
        throw noPicture('the camera has sent no picture yet');
      this.#handshakes.upgrade(request, socket, head, (webSocket) => {
        isAccepted = true;
        this.#add(source, watched, webSocket, socket, place);
      });
    } finally {
      if (!isAccepted) {
        place.release();
        this.#leaveIfUnwatched(source);
      }
    }
  }

  /** How many watch a camera. */
  viewers(source: string): number {
    return this.#watched.get(source)?.fanout.viewers.length ?? 0;
  }

  /** Frames that the camera's viewers lost because they were slow; never falls while the camera is known. */
  droppedFrames(source: string): number {
    return this.#drops.get(source)?.frames ?? 0;
  }

  /** The camera was deleted. */
  closeCamera(source: string): void {
    this.#endAll(source, closeCode.cameraDeleted, 'the camera was deleted');
    this.#drops.delete(source);
  }

  /** Tells every viewer, and waits until they have gone, or cuts them off. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopOnce();
    return this.#stopping;
  }

  async #stopOnce(): Promise<void> {
    for (const source of [...this.#watched.keys()]) {
      this.#endAll(source, closeCode.serviceStops, 'the service is stopping');
    }
    await this.#open.gone();
  }

  #watch(source: string): Watched {
    const known = this.#watched.get(source);
    if (known !== undefined) return known;
    const fanout = new CameraFanout({
      time: this.#time,
      spareTurns: this.#spareTurns,
      bells: this.#bells,
      frames: this.#frames,
      onFault: (fault) => {
        this.#log.error('websocket viewers failed', { ...sourceFields(source), reason: messageOf(fault) });
        this.#endAll(source, closeCode.internalError, 'the service failed');
      },
    });
    const watched: Watched = { fanout, awaiting: new Map(), unfollow: () => {} };
    this.#watched.set(source, watched);
    // Before the feed: of an unknown camera it is gone at once.
    this.#ticker ??= this.#clock.every(TICK_MS, () => this.#tick());
    watched.unfollow = this.#feeds.follow(source, (feed) => {
      if (feed === null) this.closeCamera(source);
      else fanout.moveTo(feed);
    });
    return watched;
  }

  #leaveIfUnwatched(source: string): void {
    const watched = this.#watched.get(source);
    if (watched === undefined || watched.fanout.viewers.length > 0) return;
    this.#watched.delete(source);
    watched.unfollow();
    watched.fanout.close();
    if (this.#watched.size > 0) return;
    this.#ticker?.cancel();
    this.#ticker = null;
  }

  #add(
    source: string,
    { fanout, awaiting }: Watched,
    webSocket: WebSocket,
    socket: Duplex,
    place: ViewerPlace,
  ): void {
    const viewer = new Viewer(webSocket, socket, this.#dropsOf(source));
    this.#open.add(webSocket);
    const leave = (): void => {
      fanout.remove(viewer);
      awaiting.delete(viewer);
      this.#leaveIfUnwatched(source);
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
    if (webSocket.readyState === webSocket.OPEN) {
      if (!fanout.hasPicture) awaiting.set(viewer, this.#time.nowMs() + FIRST_PICTURE_WAIT_MS);
      fanout.add(viewer);
    }
    this.#onChange();
  }

  #dropsOf(source: string): Drops {
    const drops = this.#drops.get(source) ?? { frames: 0 };
    this.#drops.set(source, drops);
    return drops;
  }

  #endAll(source: string, code: number, reason: string): void {
    const fanout = this.#watched.get(source)?.fanout;
    for (const viewer of [...(fanout?.viewers ?? [])]) {
      fanout?.remove(viewer);
      end(viewer, code, reason);
    }
    this.#leaveIfUnwatched(source);
  }

  #tick(): void {
    const nowMs = this.#time.nowMs();
    for (const [source, { fanout, awaiting }] of [...this.#watched]) {
      fanout.tick(nowMs);
      if (awaiting.size > 0 && fanout.hasPicture) awaiting.clear();
      for (const [viewer, untilMs] of awaiting) {
        if (nowMs < untilMs) continue;
        awaiting.delete(viewer);
        fanout.remove(viewer);
        end(viewer, closeCode.tryAgainLater, 'no picture came in 10 s');
      }
      for (const viewer of [...fanout.viewers]) {
        if (viewer.answers.lagMs(nowMs) <= STALL_LIMIT_MS) continue;
        this.#log.info('a websocket viewer takes nothing', { ...sourceFields(source) });
        fanout.remove(viewer);
        end(viewer, closeCode.tryAgainLater, 'nothing was taken for 30 s');
      }
      this.#leaveIfUnwatched(source);
    }
  }
}

const end = ({ webSocket }: Viewer, code: number, reason: string): void => webSocket.close(code, reason);

const noPicture = (message: string): AppError<WebSocketErrorCode> => new AppError('no_picture', message);
