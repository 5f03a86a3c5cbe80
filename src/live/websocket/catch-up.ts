import type { RingReader } from '../../ring/reader.js';
import { PING_EVERY_MS } from '../answers.js';
import type { AttentiveTime } from '../attentive-time.js';
import type { Timestamps } from '../timestamps.js';
import type { ConfigMessages } from './config-messages.js';
import type { FrameMessages } from './frame-messages.js';
import type { SpareTurns } from './spare-turns.js';
import type { Viewer } from './viewer.js';

/** With so much pending the rest waits in the ring, where it costs nothing. */
const MAX_PENDING_BYTES = 256 << 10;
/** So much at once, about a keyframe: others are waiting for their first picture, too. */
const MAX_TURN_BYTES = 128 << 10;

export type CatchUpOutcome = 'live' | 'behind' | 'needs-key';

export type CatchUpDeps = {
  readonly time: AttentiveTime;
  readonly spareTurns: SpareTurns;
  readonly frames: FrameMessages;
  readonly configs: ConfigMessages;
  readonly timestamps: Timestamps;
  readonly onFault: (fault: unknown) => void;
  /** The viewer has all there is, is too slow even for this, or has to wait for a keyframe. */
  readonly onEnd: (viewer: Viewer, outcome: CatchUpOutcome) => void;
};

/** Brings one viewer from the newest keyframe to the live edge, with a reader of its own. */
export class CatchUp {
  readonly #viewer: Viewer;
  readonly #reader: RingReader;
  readonly #deps: CatchUpDeps;
  #isOver = false;

  constructor(viewer: Viewer, reader: RingReader, deps: CatchUpDeps) {
    this.#viewer = viewer;
    this.#reader = reader;
    this.#deps = deps;
  }

  /** Sends what can be sent now, and goes on by itself. */
  readonly run = (): void => {
    let turnBytes = 0;
    try {
      while (!this.#isOver && this.#maySend(turnBytes) && this.#toNextFrame()) {
        turnBytes += this.#reader.lengthBytes;
        this.#send();
      }
    } catch (fault) {
      this.#deps.onFault(fault);
    }
  };

  /** The ring was replaced by a larger one with the same frames. */
  moveTo(ring: SharedArrayBuffer): void {
    this.#reader.moveTo(ring);
  }

  cancel(): void {
    this.#isOver = true;
    this.#viewer.socket.off('drain', this.run);
  }

  #maySend(turnBytes: number): boolean {
    const viewer = this.#viewer;
    if (viewer.isBehind(this.#deps.time.nowMs())) this.#end('behind');
    else if (viewer.pendingBytes > MAX_PENDING_BYTES) viewer.socket.once('drain', this.run);
    else if (turnBytes > MAX_TURN_BYTES) this.#deps.spareTurns.add(this.run);
    else return true;
    return false;
  }

  #toNextFrame(): boolean {
    const reader = this.#reader;
    // Of a GOP that it had begun before it fell behind it gets the rest.
    while (reader.next()) if (reader.isVideo && this.#viewer.wants(reader.videoIndex)) return true;
    // The ring may be empty, or have lapped what was to come next.
    const hasNothing = this.#viewer.lastTimestampUs < 0;
    this.#end(hasNothing || reader.awaitsKey ? 'needs-key' : 'live');
    return false;
  }

  #send(): void {
    const { time, frames, configs, timestamps } = this.#deps;
    const viewer = this.#viewer;
    const config = configs.of(this.#reader);
    if (config === null) return;
    const nowMs = time.nowMs();
    const pingMs = viewer.answers.sincePingMs(nowMs) >= PING_EVERY_MS ? nowMs : null;
    const timestampUs = timestamps.after(viewer.lastTimestampUs, this.#reader.dtsTicks);
    const message = frames.make(this.#reader, timestampUs, pingMs, viewer.pendingBytes > 0);
    if (message === null) return;
    viewer.send(message, config, this.#reader.videoIndex, timestampUs, pingMs);
    if (viewer.pendingBytes > 0) frames.keep(message);
  }

  #end(outcome: CatchUpOutcome): void {
    this.cancel();
    this.#deps.onEnd(this.#viewer, outcome);
  }
}
