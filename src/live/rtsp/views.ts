import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Bells } from '../../ring/bells.js';
import { sourceFields } from '../../ring/source-key.js';
import type { Documents } from '../documents.js';
import type { CameraFeeds } from '../feeds.js';
import type { LiveOutput } from '../live-output.js';
import { CameraStream } from './packets/camera-stream.js';
import { WatchedStream } from './watched-stream.js';

const TICK_MS = 250;
/** How often those who catch up get what their pace allows. */
const CATCH_UP_MS = 10;

export type RtspViewsDeps = {
  readonly feeds: CameraFeeds;
  readonly documents: Documents;
  readonly clock: Clock;
  readonly log: Logger;
  /** Some camera has more or fewer viewers than before. */
  readonly onChange: () => void;
};

/** All viewers of all cameras over RTSP, and the streams that they watch. */
export class RtspViews implements LiveOutput {
  readonly kind = 'rtsp';
  readonly #deps: RtspViewsDeps;
  readonly #bells = new Bells();
  /** By source: those that somebody holds. */
  readonly #watched = new Map<string, WatchedStream>();
  /** Of streams that are over: the counts only grow, as long as the camera is known. */
  readonly #endedDrops = new Map<string, number>();
  #ticker: Timer | null = null;
  #catchUps: Timer | null = null;

  constructor(deps: RtspViewsDeps) {
    this.#deps = deps;
  }

  /** The stream of a source, held for one more until it is left. */
  watch(source: string): WatchedStream {
    const watched = this.#watched.get(source) ?? this.#open(source);
    watched.holders += 1;
    return watched;
  }

  viewers(source: string): number {
    return this.#watched.get(source)?.stream.viewers ?? 0;
  }

  droppedFrames(source: string): number {
    const running = this.#watched.get(source)?.stream.droppedFrames ?? 0;
    return running + (this.#endedDrops.get(source) ?? 0);
  }

  closeCamera(source: string): void {
    this.#watched.get(source)?.end('the camera was deleted');
    this.#endedDrops.delete(source);
  }

  stop(): void {
    for (const watched of [...this.#watched.values()]) watched.end('the service is stopping');
  }

  #open(source: string): WatchedStream {
    const { clock, feeds, documents, log, onChange } = this.#deps;
    const stream = new CameraStream({
      clock,
      bells: this.#bells,
      documents: {
        has: () => documents.has(source),
        follow: (listener) => documents.follow(source, listener),
      },
      onUnfit: (reason) => watched.end(reason),
      onFault: (fault) => {
        log.error('RTSP viewers failed', { ...sourceFields(source), reason: messageOf(fault) });
        watched.end('the service failed');
      },
    });
    const watched = new WatchedStream(stream, {
      onBegun: () => {
        this.#catchUps ??= clock.every(CATCH_UP_MS, () => this.#catchUp());
        onChange();
      },
      onLeft: onChange,
      onUnheld: () => this.#close(source, watched),
    });
    this.#watched.set(source, watched);
    this.#ticker ??= clock.every(TICK_MS, () => this.#tick());
    watched.unfollow = feeds.follow(source, (feed) => {
      if (feed === null) watched.end('the camera is gone');
      else stream.moveTo(feed);
    });
    return watched;
  }

  #close(source: string, watched: WatchedStream): void {
    watched.unfollow();
    watched.stream.close();
    const drops = watched.stream.droppedFrames + (this.#endedDrops.get(source) ?? 0);
    if (drops > 0) this.#endedDrops.set(source, drops);
    if (this.#watched.get(source) === watched) this.#watched.delete(source);
    if (this.#watched.size > 0) return;
    this.#ticker?.cancel();
    this.#ticker = null;
    this.#catchUps?.cancel();
    this.#catchUps = null;
  }

  #tick(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const { stream } of [...this.#watched.values()]) stream.tick(nowMs);
  }

  #catchUp(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    let isNeeded = false;
    for (const { stream } of this.#watched.values()) {
      stream.catchUp(nowMs);
      isNeeded ||= stream.hasCatchUps;
    }
    if (isNeeded) return;
    this.#catchUps?.cancel();
    this.#catchUps = null;
  }
}
