import type { Clock, MonotonicMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { OpenPull } from '../../relay/receive/pull.js';
import type { RingCeiling } from '../../ring/ceiling.js';
import { Bell } from '../../ring/doorbell.js';
import { sourceFields } from '../../ring/source-key.js';
import type { FromCameraWorker, ToCameraWorker } from '../messages.js';
import { Ingest } from './ingest.js';
import { type NapNeed, NapPolicy } from './nap.js';

/** One read of a socket at most; all sockets of the worker share the buffer, since reads are synchronous. */
const READ_BUFFER_BYTES = 256 * 1024;
const TICK_MS = 1_000;

/** Records the rings of a worker, in its thread. */
export interface RingRecorders {
  setRecorded(cameraId: string, isWanted: boolean, mode: 'continuous' | 'events'): void;
  /** The camera's ring, or the one that replaces it. */
  setRing(cameraId: string, ring: SharedArrayBuffer): void;
  /** The camera leaves the worker. */
  remove(cameraId: string): void;
  /** Disk work waits for other disk work of this thread: it must not nap. */
  readonly isInHaste: boolean;
  /** At the end of loop turns in which media came, and every second. */
  pump(nowMs: number): void;
  /** Resolves when all recordings are closed. */
  stop(): Promise<void>;
}

/**
 * All that one camera worker does: cameras by id, one read buffer, one bell, one tick. A plain class; the thread
 * around it is workers/camera.ts.
 */
export class IngestWorker {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #send: (message: FromCameraWorker) => void;
  readonly #readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  readonly #recorders: RingRecorders;
  readonly #bell = new Bell();
  readonly #ceiling: RingCeiling;
  readonly #openPull: OpenPull | null;
  readonly #sleep: (durationMs: number) => void;
  readonly #nap: NapPolicy;
  readonly #cameras = new Map<string, Ingest>();
  /** Sessions of cameras that have left, which still say TEARDOWN. */
  readonly #releasing = new Set<Promise<void>>();
  readonly #ticker: { cancel(): void };
  #isTurnScheduled = false;
  #turnMs: MonotonicMs;

  constructor(deps: {
    clock: Clock;
    log: Logger;
    send: (message: FromCameraWorker) => void;
    recorders: RingRecorders;
    ceiling: RingCeiling;
    /** Null: there are no other boxes. */
    openPull?: OpenPull | null;
    /** Blocks the thread. */
    sleep: (durationMs: number) => void;
  }) {
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#send = deps.send;
    this.#recorders = deps.recorders;
    this.#ceiling = deps.ceiling;
    this.#openPull = deps.openPull ?? null;
    this.#sleep = deps.sleep;
    this.#turnMs = deps.clock.monotonicMs();
    this.#nap = new NapPolicy({ clock: deps.clock, need: () => this.#need() });
    this.#ticker = deps.clock.every(TICK_MS, () => this.#tick());
    this.#send({ type: 'ready', bell: this.#bell.memory });
  }

  handle(message: Exclude<ToCameraWorker, { type: 'stop' }>): void {
    switch (message.type) {
      case 'open':
        this.#open(message.cameraId, message.ring);
        break;
      case 'record':
        this.#recorders.setRecorded(message.cameraId, message.isWanted, message.mode);
        break;
      case 'documents':
        this.#cameras.get(message.cameraId)?.wantDocuments(message.isWanted);
        break;
      case 'connect':
        this.#cameras.get(message.cameraId)?.connect(message.attempt, message.source);
        break;
      case 'disconnect':
        this.#cameras.get(message.cameraId)?.disconnect();
        break;
      case 'release': {
        const camera = this.#cameras.get(message.cameraId);
        this.#cameras.delete(message.cameraId);
        this.#recorders.remove(message.cameraId);
        if (camera !== undefined) this.#release(message.cameraId, camera, message.closeRing);
        break;
      }
    }
  }

  #release(cameraId: string, camera: Ingest, closeRing: boolean): void {
    const releasing = camera.release(closeRing).finally(() => {
      this.#releasing.delete(releasing);
      this.#send({ type: 'released', cameraId });
    });
    this.#releasing.add(releasing);
  }

  /** Ends every session politely, and closes all recordings. */
  async stop(): Promise<void> {
    this.#ticker.cancel();
    const sessions = [...this.#cameras.values()].map((camera) => camera.release(true));
    await Promise.all([...sessions, ...this.#releasing, this.#recorders.stop()]);
    this.#cameras.clear();
  }

  #open(cameraId: string, ring: SharedArrayBuffer | null): void {
    const camera = new Ingest(
      { cameraId, ring },
      {
        clock: this.#clock,
        log: this.#log.child(sourceFields(cameraId)),
        readBuffer: this.#readBuffer,
        bell: this.#bell,
        ceiling: this.#ceiling,
        send: this.#send,
        onRing: (ring) => this.#recorders.setRing(cameraId, ring),
        onPacket: this.#onPacket,
        onPull: this.#onPull,
        onFlushed: this.#scheduleTurn,
        openPull: this.#openPull,
      },
    );
    this.#cameras.set(cameraId, camera);
  }

  /** Called for every packet, says when it came: to the turn, since a turn is over in a fraction of a millisecond. */
  readonly #onPacket = (): MonotonicMs => {
    this.#nap.countPacket();
    if (!this.#isTurnScheduled) this.#scheduleTurn();
    return this.#turnMs;
  };

  /** The same for what another box sends. */
  readonly #onPull = (): MonotonicMs => {
    this.#nap.countPull();
    if (!this.#isTurnScheduled) this.#scheduleTurn();
    return this.#turnMs;
  };

  /** There is something to be announced at the end of this turn. */
  readonly #scheduleTurn = (): void => {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    this.#turnMs = this.#clock.monotonicMs();
    setImmediate(this.#endTurn);
  };

  /** Rings the bell once for all that came in this turn of the loop, and perhaps naps. */
  readonly #endTurn = (): void => {
    this.#isTurnScheduled = false;
    this.#bell.ringIfNeeded();
    this.#recorders.pump(this.#turnMs);
    const napMs = this.#nap.napMs();
    if (napMs > 0 && !this.#recorders.isInHaste) this.#sleep(napMs);
  };

  /** Ten times a second at most. */
  #need(): NapNeed {
    let [isConnecting, playing, watched] = [false, 0, 0];
    for (const camera of this.#cameras.values()) {
      // Each is asked, since each tells of what came since it was asked before.
      if (camera.takeHandshakeNews()) isConnecting = true;
      if (!camera.isPlaying) continue;
      playing += 1;
      if (camera.isWatched) watched += 1;
    }
    return { isConnecting, playing, watched };
  }

  #tick(): void {
    this.#recorders.pump(this.#clock.monotonicMs());
    for (const [cameraId, camera] of this.#cameras) {
      try {
        camera.tick();
      } catch (fault) {
        this.#log.error('tick failed', { ...sourceFields(cameraId), reason: messageOf(fault) });
      }
    }
  }
}
