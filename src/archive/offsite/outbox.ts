import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { replaceFile } from '../../base/durable-file.js';

/** A file that may be in the store without being known as a copy: it is written down before the first of it is sent. */
export type Sending = {
  readonly object: string;
  /** Of what file: its inode, size and times, as text. */
  readonly source: string;
  /** Of an object's ETag that is as good as this file, whatever it says that it is of (see `markOf`); null: none is. */
  readonly mark: number | null;
  /** The upload in parts that is under way; null: none is. */
  readonly uploadId: string | null;
  /** ETags of parts that the store has taken, by their numbers. */
  readonly parts: Readonly<Record<string, string>>;
  /** It is to be deleted there, however far it got. */
  readonly isUnwanted: boolean;
};

/** What somebody wants gone of a camera of which nothing is written: it is found when the store was listed. */
export type Wish = {
  readonly cameraId: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly fileNames: readonly string[];
};

/** An upload that is to be ended. */
export type Ended = { readonly object: string; readonly uploadId: string };

const sending = z.object({
  object: z.string(),
  source: z.string(),
  mark: z.number().nullable().default(null),
  uploadId: z.string().min(1).nullable(),
  parts: z.record(z.string(), z.string()),
  isUnwanted: z.boolean(),
});
const wish = z.object({
  cameraId: z.string(),
  fromMs: z.number(),
  toMs: z.number(),
  fileNames: z.array(z.string()),
});
const ended = z.object({ object: z.string(), uploadId: z.string().min(1) });
const stored = z.object({
  sendings: z.array(sending),
  wishes: z.array(wish),
  ended: z.array(ended),
});

const MAX_ENDED = 1_000;
const FOREVER_MS = 8_640_000_000_000_000;

/** JSON knows no infinity. */
const finite = (timeMs: number): number => Math.min(Math.max(timeMs, -FOREVER_MS), FOREVER_MS);

type Content = {
  readonly sendings: ReadonlyMap<string, Sending>;
  readonly wishes: readonly Wish[];
  readonly ended: readonly Ended[];
};

/** What was written; null: it makes no sense. Throws what the disk says: what it had may be there the next time. */
const read = (path: string): Content | null => {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') throw fault;
    return { sendings: new Map(), wishes: [], ended: [] };
  }
  try {
    const { sendings, wishes, ended } = stored.parse(JSON.parse(text));
    return { sendings: new Map(sendings.map((one) => [one.object, one])), wishes, ended };
  } catch {
    return null;
  }
};

/** What must outlive the thread besides what is written of copies: all of it is synced before it counts. */
export class Outbox {
  readonly #path: string;
  #content: Content;

  /** `onDamaged`: what was written can't be told any more, so that it has to be looked for. It throws, or that is done. */
  constructor(path: string, onDamaged: () => void) {
    this.#path = path;
    const content = read(path);
    this.#content = content ?? { sendings: new Map(), wishes: [], ended: [] };
    if (content !== null) return;
    onDamaged();
    this.#write({});
  }

  get sendings(): readonly Sending[] {
    return [...this.#content.sendings.values()];
  }

  get wishes(): readonly Wish[] {
    return this.#content.wishes;
  }

  get ended(): readonly Ended[] {
    return this.#content.ended;
  }

  of(object: string): Sending | null {
    return this.#content.sendings.get(object) ?? null;
  }

  set(one: Sending): void {
    this.#write({ sendings: this.#with(one) });
  }

  remove(object: string): void {
    if (this.of(object) === null) return;
    const sendings = new Map(this.#content.sendings);
    sendings.delete(object);
    this.#write({ sendings });
  }

  /** The upload of it is not gone on with. */
  abandon(object: string): void {
    const one = this.of(object);
    if (one === null || one.uploadId === null) return;
    const ended = [...this.ended, { object, uploadId: one.uploadId }].slice(-MAX_ENDED);
    this.#write({ ended, sendings: this.#with({ ...one, uploadId: null, parts: {} }) });
  }

  /** It was ended. */
  forgetEnded({ uploadId }: Ended): void {
    this.#write({ ended: this.ended.filter((one) => one.uploadId !== uploadId) });
  }

  wish({ cameraId, fromMs, toMs, fileNames }: Wish): void {
    const one = { cameraId, fromMs: finite(fromMs), toMs: finite(toMs), fileNames };
    const text = JSON.stringify(one);
    if (this.wishes.some((other) => JSON.stringify(other) === text)) return;
    this.#write({ wishes: [...this.wishes, one] });
  }

  /** They are marked now where it is written what of the camera is there. */
  fulfil(cameraId: string): void {
    if (!this.wishes.some((one) => one.cameraId === cameraId)) return;
    this.#write({ wishes: this.wishes.filter((one) => one.cameraId !== cameraId) });
  }

  #with(one: Sending): ReadonlyMap<string, Sending> {
    return new Map(this.#content.sendings).set(one.object, one);
  }

  /** What the disk didn't take isn't so: whoever asks again is not told that it is. */
  #write(change: Partial<Content>): void {
    const content = { ...this.#content, ...change };
    replaceFile(this.#path, JSON.stringify({ ...content, sendings: [...content.sendings.values()] }));
    this.#content = content;
  }
}
