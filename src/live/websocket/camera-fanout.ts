import type { Bells } from '../../ring/bells.js';
import { readCounters } from '../../ring/counters.js';
import { RingReader } from '../../ring/reader.js';
import { PING_EVERY_MS } from '../answers.js';
import type { AttentiveTime } from '../attentive-time.js';
import type { CameraFeed } from '../feeds.js';
import { Timestamps } from '../timestamps.js';
import { CatchUp, type CatchUpDeps, type CatchUpOutcome } from './catch-up.js';
import { ConfigMessages } from './config-messages.js';
import type { FrameMessages } from './frame-messages.js';
import type { SpareTurns } from './spare-turns.js';
import type { Viewer } from './viewer.js';

/** Where no frames flow, this often a viewer is asked whether it is still there. */
const IDLE_PING_MS = 10_000;

export type CameraFanoutDeps = {
  readonly time: AttentiveTime;
  readonly spareTurns: SpareTurns;
  readonly bells: Bells;
  readonly frames: FrameMessages;
  /** A fault of our own that must end the camera's viewers, and nothing else. */
  readonly onFault: (fault: unknown) => void;
};

/**
 * All viewers of one camera. Each frame is read and framed once, and written to everybody who is live; whoever
 * isn't catches up with a reader of its own, or waits.
 */
export class CameraFanout {
  readonly #deps: CameraFanoutDeps;
  readonly #catchUpDeps: CatchUpDeps;
  readonly #configs = new ConfigMessages();
  readonly #timestamps = new Timestamps();
  readonly #viewers: Viewer[] = [];
  readonly #catchUps = new Map<Viewer, CatchUp>();
  #feed: CameraFeed | null = null;
  #reader: RingReader | null = null;
  #unlisten: () => void = () => {};
  /** `videoIndex` of the frame behind the newest one that it has read. */
  #endIndex = 0;
  #lastPingMs = Number.NEGATIVE_INFINITY;
  /** Whether the last message was still being written when the next one came: then that will be so again. */
  #isKept = false;

  constructor(deps: CameraFanoutDeps) {
    this.#deps = deps;
    const { time, spareTurns, frames, onFault } = deps;
    const configs = this.#configs;
    const timestamps = this.#timestamps;
    this.#catchUpDeps = {
      time,
      spareTurns,
      frames,
      configs,
      timestamps,
      onFault,
      onEnd: (viewer, outcome) => this.#onCaughtUp(viewer, outcome),
    };
  }

  get viewers(): readonly Viewer[] {
    return this.#viewers;
  }

  /** The camera has sent something that can be shown. */
  get hasPicture(): boolean {
    return this.#feed !== null && readCounters(this.#feed.ring).keyFrames > 0;
  }

  /** Where the frames are from now on. */
  moveTo(feed: CameraFeed): void {
    const isNewBell = feed.bell !== this.#feed?.bell;
    this.#feed = feed;
    if (isNewBell) {
      this.#unlisten();
      this.#unlisten = this.#deps.bells.listen(feed.bell, () => this.pump());
    }
    if (this.#reader === null) this.#start(feed.ring);
    else this.#follow(this.#reader, feed.ring);
  }

  /** A new viewer, which sees the newest keyframe at once. */
  add(viewer: Viewer): void {
    this.#viewers.push(viewer);
    this.pump();
    this.#catchUp(viewer);
  }

  remove(viewer: Viewer): void {
    const index = this.#viewers.indexOf(viewer);
    if (index === -1) return;
    this.#viewers.splice(index, 1);
    this.#stopCatchUp(viewer);
    this.#missRest(viewer);
  }

  /** A pong of one of the viewers. */
  onPong(viewer: Viewer, payload: Buffer): void {
    const nowMs = this.#deps.time.nowMs();
    // One that is being closed answers, too.
    if (!viewer.onPong(payload, nowMs) || !this.#viewers.includes(viewer)) return;
    if (!viewer.isFast(nowMs)) {
      viewer.state = 'awaiting-key';
      return;
    }
    // What nobody has been told of yet isn't sent to it before all others.
    this.pump();
    this.#catchUp(viewer);
  }

  /** Sends all that is new in the ring. */
  pump(): void {
    const reader = this.#reader;
    if (reader === null) return;
    try {
      while (reader.next()) if (reader.isVideo) this.#deliver(reader);
    } catch (fault) {
      this.#deps.onFault(fault);
    }
  }

  /** Looks after viewers whom no frame comes to; several times a second. */
  tick(nowMs: number): void {
    for (const viewer of this.#viewers) {
      if (viewer.state === 'catching-up' && viewer.isBehind(nowMs)) {
        this.#stopCatchUp(viewer);
        viewer.becomeSlow(nowMs);
      } else if (viewer.answers.isComplete && viewer.answers.sincePingMs(nowMs) > IDLE_PING_MS) {
        viewer.ping(nowMs);
      }
    }
  }

  /** Lets go of the ring; the viewers are ended by whoever owns them. */
  close(): void {
    for (const catchUp of this.#catchUps.values()) catchUp.cancel();
    this.#catchUps.clear();
    this.#unlisten();
    this.#reader?.unsubscribe();
    this.#reader = null;
  }

  /** What is in the ring already goes to those who have waited for it, too. */
  #start(ring: SharedArrayBuffer): void {
    this.#reader = this.#open(ring);
    for (const viewer of this.#viewers) this.#catchUp(viewer);
  }

  #open(ring: SharedArrayBuffer): RingReader {
    const reader = new RingReader(ring, { start: 'latest-key' });
    reader.subscribe();
    const nowMs = this.#deps.time.nowMs();
    // What is there already goes to each viewer by a reader of its own.
    while (reader.next()) {
      if (!reader.isVideo) continue;
      this.#timestamps.next(reader.dtsTicks, nowMs);
      this.#endIndex = (reader.videoIndex + 1) | 0;
    }
    return reader;
  }

  #follow(reader: RingReader, ring: SharedArrayBuffer): void {
    this.pump();
    if (reader.moveTo(ring)) {
      for (const catchUp of this.#catchUps.values()) catchUp.moveTo(ring);
      return;
    }
    for (const viewer of this.#viewers) {
      this.#missRest(viewer);
      if (this.#stopCatchUp(viewer)) viewer.state = 'awaiting-key';
      viewer.restart();
    }
    this.#configs.restart();
    this.#timestamps.restart();
  }

  #deliver(reader: RingReader): void {
    const nowMs = this.#deps.time.nowMs();
    const timestampUs = this.#timestamps.next(reader.dtsTicks, nowMs);
    this.#endIndex = (reader.videoIndex + 1) | 0;
    if (!this.#isWanted(reader, nowMs)) return;
    const config = this.#configs.of(reader);
    if (config === null) return;
    const pingMs = nowMs - this.#lastPingMs >= PING_EVERY_MS ? nowMs : null;
    const message = this.#deps.frames.make(reader, timestampUs, pingMs, this.#isKept);
    if (message === null) return;
    if (pingMs !== null) this.#lastPingMs = pingMs;
    const { videoIndex } = reader;
    let isKept = false;
    for (let index = 0; index < this.#viewers.length; index += 1) {
      const viewer = this.#viewers[index]!;
      if (viewer.state !== 'live' || !viewer.wants(videoIndex)) continue;
      viewer.send(message, config, videoIndex, timestampUs, pingMs);
      isKept ||= viewer.pendingBytes > 0;
    }
    if (isKept) this.#deps.frames.keep(message);
    this.#isKept = isKept;
  }

  /** Sets every viewer's state with regard to this frame. False: it goes to nobody. */
  #isWanted({ isKey, videoIndex }: RingReader, nowMs: number): boolean {
    let isWanted = false;
    for (let index = 0; index < this.#viewers.length; index += 1) {
      const viewer = this.#viewers[index]!;
      if (isKey && viewer.state === 'awaiting-key') viewer.state = 'live';
      if (viewer.state === 'live' && viewer.isBehind(nowMs)) viewer.becomeSlow(nowMs);
      // What comes before a keyframe is lost to it for good, whenever it is ready again.
      if (isKey && viewer.state === 'slow') viewer.miss(videoIndex);
      isWanted ||= viewer.state === 'live';
    }
    return isWanted;
  }

  #catchUp(viewer: Viewer): void {
    if (this.#feed === null) return;
    viewer.state = 'catching-up';
    const reader = new RingReader(this.#feed.ring, { start: 'latest-key' });
    const catchUp = new CatchUp(viewer, reader, this.#catchUpDeps);
    this.#catchUps.set(viewer, catchUp);
    catchUp.run();
  }

  #onCaughtUp(viewer: Viewer, outcome: CatchUpOutcome): void {
    this.#catchUps.delete(viewer);
    const nowMs = this.#deps.time.nowMs();
    if (outcome === 'behind') {
      viewer.becomeSlow(nowMs);
    } else if (outcome === 'needs-key') {
      viewer.state = 'awaiting-key';
    } else {
      viewer.state = 'live';
      viewer.ping(nowMs);
    }
  }

  #stopCatchUp(viewer: Viewer): boolean {
    this.#catchUps.get(viewer)?.cancel();
    return this.#catchUps.delete(viewer);
  }

  /** Counts what a slow viewer that gets nothing more of this ring has lost up to now. */
  #missRest(viewer: Viewer): void {
    const isLosing = viewer.state === 'slow' || viewer.state === 'awaiting-key';
    if (isLosing && this.#reader !== null) viewer.miss(this.#endIndex);
  }
}
