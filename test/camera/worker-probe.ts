import type { Clock } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { IngestWorker } from '../../src/camera/ingest-worker.js';
import type { CameraSource, FromCameraWorker } from '../../src/camera/messages.js';
import { RingCeiling } from '../../src/ring/ceiling.js';
import { BellListener } from '../../src/ring/doorbell.js';
import { RingReader } from '../../src/ring/reader.js';

/** A camera worker in this thread, on the test's clock, with one camera: all that it says is written down. */
export class WorkerProbe {
  readonly said: FromCameraWorker[] = [];
  readonly worker: IngestWorker;
  readonly #cameraId = 'door';
  #attempt = 0;
  #listener: BellListener | null = null;
  #reader: RingReader | null = null;
  /** Video frames that were read when the bell rang. */
  framesHeard = 0;
  /** Turns of the loop in which media came, and ticks. */
  turns = 0;

  constructor(clock: Clock) {
    this.worker = new IngestWorker({
      clock,
      log: createLogger(() => {}),
      send: (message) => this.said.push(message),
      ceiling: new RingCeiling(),
      recorders: {
        setRecorded: () => {},
        setRing: () => {},
        remove: () => {},
        isInHaste: true,
        pump: () => {
          this.turns += 1;
        },
        stop: () => Promise.resolve(),
      },
    });
    this.worker.handle({ type: 'open', cameraId: this.#cameraId, ring: null });
  }

  get types(): string[] {
    return this.said.map(({ type }) => type);
  }

  /** The camera's ring: the newest. */
  get ring(): SharedArrayBuffer {
    const last = this.said.findLast((message) => message.type === 'ring');
    if (last === undefined) throw new Error('there is no ring');
    return last.ring;
  }

  connect(source: CameraSource): void {
    this.#attempt += 1;
    this.worker.handle({ type: 'connect', cameraId: this.#cameraId, attempt: this.#attempt, source });
  }

  disconnect(): void {
    this.worker.handle({ type: 'disconnect', cameraId: this.#cameraId });
  }

  /** Reads on whenever the bell rings. */
  listen(): void {
    const ready = this.said.find((message) => message.type === 'ready');
    if (ready === undefined) throw new Error('there is no bell');
    const reader = new RingReader(this.ring, { start: 'latest-key' });
    reader.subscribe();
    this.#reader = reader;
    this.#listener = new BellListener(ready.bell, () => {
      while (reader.next()) if (reader.isVideo) this.framesHeard += 1;
    });
    this.#listener.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener?.stop();
    this.#reader?.unsubscribe();
    await this.worker.stop();
  }
}
