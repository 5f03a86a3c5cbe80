import type { Clock } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { S3Client } from '../../s3/s3-client.js';
import { RecorderRoot } from '../root-state.js';
import { Copier } from './copier.js';
import type { CopierSetup, FromCopier, ToCopier } from './messages.js';
import { Pacer } from './pacer.js';

/** What the thread that copies does with what it is told. */
export class CopierThread {
  readonly #copier: Copier;
  readonly #log: Logger;
  readonly #send: (message: FromCopier) => void;
  readonly #asked = new Map<number, (epoch: number) => void>();
  #nextId = 1;

  constructor(
    { archiveDir, copiesDir, root, address, ca, box, isShared, mbit }: CopierSetup,
    { clock, log, send }: { clock: Clock; log: Logger; send: (message: FromCopier) => void },
  ) {
    this.#log = log;
    this.#send = send;
    const folder = new RecorderRoot(archiveDir, root);
    this.#copier = new Copier(
      { archiveDir, copiesDir, box, isShared },
      {
        ...{ clock, log, pacer: new Pacer(mbit, clock) },
        client: new S3Client(address, { clock, log, ca: ca === null ? null : Buffer.from(ca) }),
        isThere: () =>
          folder.assertThere().then(
            () => true,
            () => false,
          ),
        onState: (state) => send({ type: 'state', state }),
        ...(isShared && { epochOf: (cameraId, startMs) => this.#askEpoch(cameraId, startMs) }),
      },
    );
    this.#copier.start();
  }

  handle(message: Exclude<ToCopier, { type: 'stop' }>): void {
    if (message.type === 'held') this.#copier.hold(message.held);
    else if (message.type === 'look') this.#copier.look();
    else if (message.type === 'doubt') this.#copier.doubt();
    else if (message.type === 'relist') this.#copier.relist(message.cameraId);
    else if (message.type === 'expire') this.#try(() => this.#copier.expire(message.expiry));
    else if (message.type === 'epoch') {
      this.#asked.get(message.id)?.(message.epoch);
      this.#asked.delete(message.id);
    } else if (message.type === 'replace')
      this.#try(() => this.#copier.replace(message.cameraId, message.wholes));
    else {
      const { id, cameraId, unwanted } = message;
      const count = this.#try(() => this.#copier.forget(cameraId, unwanted));
      this.#send({ type: 'forgotten', id, count });
    }
  }

  /** The main thread has the database. */
  #askEpoch(cameraId: string, startMs: number): Promise<number> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.#send({ type: 'epoch', id, cameraId, startMs });
    });
  }

  stop(): Promise<void> {
    // Nothing of what is on its way is gone on with.
    for (const answer of this.#asked.values()) answer(0);
    return this.#copier.stop();
  }

  #try<Result>(work: () => Result): Result | null {
    try {
      return work();
    } catch (fault) {
      this.#log.warn('could not write what the store is to delete', { reason: String(fault) });
      return null;
    }
  }
}
