import type { Clock } from '../../../src/base/clock.js';
import { createLogger } from '../../../src/base/log.js';
import { IngestWorker } from '../../../src/camera/ingest/ingest-worker.js';
import type { CameraSource, FromCameraWorker } from '../../../src/camera/messages.js';
import { RingCeiling } from '../../../src/ring/ceiling.js';
import { BellListener } from '../../../src/ring/doorbell.js';
import { RingReader } from '../../../src/ring/reader.js';
import { accessUnitHash } from '../../support/access-units.js';

/** A camera worker in this thread, on the test's clock, all that it says is written down. The first camera is there already. */
export class WorkerProbe {
  readonly said: FromCameraWorker[] = [];
  readonly worker: IngestWorker;
  #attempt = 0;
  #listener: BellListener | null = null;
  #reader: RingReader | null = null;
  /** H.264 frames that were read when the bell rang, by their content. */
  readonly heard: string[] = [];
  /** How long it would have napped, each time that it would have. */
  readonly naps: number[] = [];
  /** Turns of the loop in which media came, and ticks. */
  turns = 0;

  constructor(clock: Clock) {
    this.worker = new IngestWorker({
      clock,
      log: createLogger(() => {}),
      send: (message) => this.said.push(message),
      ceiling: new RingCeiling(),
      sleep: (durationMs) => void this.naps.push(durationMs),
      recorders: {
        setRecorded: () => {},
        setRing: () => {},
        remove: () => {},
        isInHaste: false,
        pump: () => {
          this.turns += 1;
        },
        stop: () => Promise.resolve(),
      },
    });
    this.open('door');
  }

  open(cameraId: string): void {
    this.worker.handle({ type: 'open', cameraId, ring: null });
  }

  get types(): string[] {
    return this.said.map(({ type }) => type);
  }

  /** The first camera's ring. */
  get ring(): SharedArrayBuffer {
    return this.ringOf('door');
  }

  /** A camera's ring: the newest. */
  ringOf(cameraId: string): SharedArrayBuffer {
    const last = this.said.findLast((message) => message.type === 'ring' && message.cameraId === cameraId);
    if (last?.type !== 'ring') throw new Error('there is no ring');
    return last.ring;
  }

  connect(source: CameraSource, cameraId = 'door'): void {
    this.#attempt += 1;
    this.worker.handle({ type: 'connect', cameraId, attempt: this.#attempt, source });
  }

  disconnect(cameraId = 'door'): void {
    this.worker.handle({ type: 'disconnect', cameraId });
  }

  release(cameraId = 'door'): void {
    this.worker.handle({ type: 'release', cameraId, closeRing: true });
  }

  /** The bell of all rings. */
  get bell(): SharedArrayBuffer {
    const ready = this.said.find((message) => message.type === 'ready');
    if (ready === undefined) throw new Error('there is no bell');
    return ready.bell;
  }

  /** Reads on whenever the bell rings. */
  listen(): void {
    const reader = new RingReader(this.ring, { start: 'latest-key' });
    reader.subscribe();
    this.#reader = reader;
    this.#listener = new BellListener(this.bell, () => {
      while (reader.next()) {
        if (!reader.isVideo) continue;
        const frame = Buffer.alloc(reader.lengthBytes);
        if (reader.copyTo(frame, 0)) this.heard.push(accessUnitHash('h264', frame));
      }
    });
    this.#listener.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener?.stop();
    this.#reader?.unsubscribe();
    await this.worker.stop();
  }
}
