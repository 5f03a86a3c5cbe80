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

  constructor(
    { archiveDir, copiesDir, root, address, ca, box, mbit }: CopierSetup,
    { clock, log, send }: { clock: Clock; log: Logger; send: (message: FromCopier) => void },
  ) {
    this.#log = log;
    this.#send = send;
    const folder = new RecorderRoot(archiveDir, root);
    this.#copier = new Copier(
      { archiveDir, copiesDir, box },
      {
        ...{ clock, log, pacer: new Pacer(mbit, clock) },
        client: new S3Client(address, { clock, log, ca: ca === null ? null : Buffer.from(ca) }),
        isThere: () =>
          folder.assertThere().then(
            () => true,
            () => false,
          ),
        onState: (state) => send({ type: 'state', state }),
      },
    );
    this.#copier.start();
  }

  handle(message: Exclude<ToCopier, { type: 'stop' }>): void {
    if (message.type === 'held') this.#copier.hold(message.held);
    else if (message.type === 'look') this.#copier.look();
    else if (message.type === 'doubt') this.#copier.doubt();
    else if (message.type === 'expire') this.#try(() => this.#copier.expire(message.expiry));
    else if (message.type === 'replace')
      this.#try(() => this.#copier.replace(message.cameraId, message.wholes));
    else {
      const { id, cameraId, unwanted } = message;
      const count = this.#try(() => this.#copier.forget(cameraId, unwanted));
      this.#send({ type: 'forgotten', id, count });
    }
  }

  stop(): Promise<void> {
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
