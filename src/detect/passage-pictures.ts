import type { DetectJob } from './messages.js';
import type { PassageLog } from './passages.js';

export type PassagePicturesDeps = {
  /** A keyframe as a JPEG with this box in it; null: it can't be had. Never rejects. */
  readonly draw: (job: DetectJob, box: Parameters<PassageLog['picture']>[2]) => Promise<Uint8Array | null>;
  /** Never rejects. */
  readonly keep: (id: number, jpeg: Uint8Array) => Promise<void>;
};

/** Where more wait, some passages have no picture of their own. */
const MAX_WAITING = 32;
/** A keyframe of 4K takes 1 or 2 MB; what cameras could send is 8. */
const MAX_WAITING_BYTES = 32_000_000;

/** Draws one picture after another, so that snapshots, which people wait for, have the decoder almost to themselves. */
export class PassagePictures {
  readonly #deps: PassagePicturesDeps;
  #turn: Promise<void> = Promise.resolve();
  #waiting = 0;
  #waitingBytes = 0;

  constructor(deps: PassagePicturesDeps) {
    this.#deps = deps;
  }

  readonly add: PassageLog['picture'] = (id, { job }, box) => {
    const bytes = job.annexB.length;
    if (this.#waiting >= MAX_WAITING || this.#waitingBytes + bytes > MAX_WAITING_BYTES) return;
    this.#waiting += 1;
    this.#waitingBytes += bytes;
    this.#turn = this.#turn
      .then(async () => {
        const jpeg = await this.#deps.draw(job, box);
        if (jpeg !== null) await this.#deps.keep(id, jpeg);
      })
      .finally(() => {
        this.#waiting -= 1;
        this.#waitingBytes -= bytes;
      });
  };
}
