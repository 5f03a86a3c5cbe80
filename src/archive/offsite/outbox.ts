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

/** What must outlive the thread besides what is written of copies: all of it is synced before it counts. */
export class Outbox {
  readonly #path: string;
  readonly #sendings = new Map<string, Sending>();
  #wishes: readonly Wish[] = [];
  #ended: readonly Ended[] = [];

  constructor(path: string) {
    this.#path = path;
    const found = this.#read();
    for (const one of found?.sendings ?? []) this.#sendings.set(one.object, one);
    this.#wishes = found?.wishes ?? [];
    this.#ended = found?.ended ?? [];
  }

  get sendings(): readonly Sending[] {
    return [...this.#sendings.values()];
  }

  get wishes(): readonly Wish[] {
    return this.#wishes;
  }

  get ended(): readonly Ended[] {
    return this.#ended;
  }

  of(object: string): Sending | null {
    return this.#sendings.get(object) ?? null;
  }

  set(one: Sending): void {
    this.#sendings.set(one.object, one);
    this.#write();
  }

  remove(object: string): void {
    if (this.#sendings.delete(object)) this.#write();
  }

  /** The upload of it is not gone on with. */
  abandon(object: string): void {
    const one = this.of(object);
    if (one === null || one.uploadId === null) return;
    this.#ended = [...this.#ended, { object, uploadId: one.uploadId }].slice(-MAX_ENDED);
    this.set({ ...one, uploadId: null, parts: {} });
  }

  /** It was ended. */
  forgetEnded({ uploadId }: Ended): void {
    this.#ended = this.#ended.filter((one) => one.uploadId !== uploadId);
    this.#write();
  }

  wish({ cameraId, fromMs, toMs, fileNames }: Wish): void {
    const one = { cameraId, fromMs: finite(fromMs), toMs: finite(toMs), fileNames };
    const text = JSON.stringify(one);
    if (this.#wishes.some((other) => JSON.stringify(other) === text)) return;
    this.#wishes = [...this.#wishes, one];
    this.#write();
  }

  /** They are marked now where it is written what of the camera is there. */
  fulfil(cameraId: string): void {
    if (!this.#wishes.some((one) => one.cameraId === cameraId)) return;
    this.#wishes = this.#wishes.filter((one) => one.cameraId !== cameraId);
    this.#write();
  }

  #write(): void {
    const content = { sendings: this.sendings, wishes: this.#wishes, ended: this.#ended };
    replaceFile(this.#path, JSON.stringify(content));
  }

  #read(): z.infer<typeof stored> | null {
    try {
      return stored.parse(JSON.parse(readFileSync(this.#path, 'utf8')));
    } catch {
      return null;
    }
  }
}
