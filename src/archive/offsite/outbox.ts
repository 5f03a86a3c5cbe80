import { readFileSync } from 'node:fs';
import { replaceFile } from '../../base/durable-file.js';
import { codeOf } from '../files/disk-fault.js';
import { parseRecordingName } from '../files/file-name.js';
import { type Ended, type Sending, storedIn, type Wish } from './stored-outbox.js';

const MAX_ENDED = 1_000;
const MAX_WISHES = 1_000;
const FOREVER_MS = 8_640_000_000_000_000;

/** JSON knows no infinity. */
const finite = (timeMs: number): number => Math.min(Math.max(timeMs, -FOREVER_MS), FOREVER_MS);

const lies = (times: { readonly fromMs: number; readonly toMs: number }, { fromMs, toMs }: Wish): boolean =>
  times.fromMs > times.toMs || (times.fromMs >= fromMs && times.toMs <= toMs);

/** Names that don't lie within its time anyway. */
const namesBeside = (names: readonly string[], wish: Wish): string[] =>
  [...new Set(names)].filter((name) => {
    const { startMs, endMs } = parseRecordingName(name) ?? {};
    return startMs === undefined || endMs == null || !lies({ fromMs: startMs, toMs: endMs }, wish);
  });

/** Whether one says all that another one of its camera does, but for names. */
const covers = (one: Wish, other: Wish): boolean =>
  one.cameraId === other.cameraId &&
  lies(other, one) &&
  (one.markedMs === null || (other.markedMs !== null && other.markedMs <= one.markedMs));

/** Of two of a camera one where that says the same. */
const joined = (before: readonly Wish[], wish: Wish): readonly Wish[] => {
  const [others, covered] = [[] as Wish[], [] as Wish[]];
  for (const one of before) (covers(wish, one) ? covered : others).push(one);
  const fileNames = [...covered, wish].flatMap((one) => one.fileNames);
  const all = { ...wish, fileNames: namesBeside(fileNames, wish) };
  const isSaid = others.some((one) => covers(one, all) && namesBeside(all.fileNames, one).length === 0);
  return isSaid ? others : [...others, all];
};

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
    if (codeOf(fault) !== 'ENOENT') throw fault;
    return { sendings: new Map(), wishes: [], ended: [] };
  }
  try {
    const { sendings, wishes, ended } = storedIn(JSON.parse(text));
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

  /** Throws where there are too many of them. */
  wish(wish: Wish): void {
    const one = { ...wish, fromMs: finite(wish.fromMs), toMs: finite(wish.toMs) };
    const wishes = joined(this.wishes, one);
    if (wishes.length > MAX_WISHES) throw new Error(`no more than ${MAX_WISHES} wishes can be written down`);
    if (JSON.stringify(wishes) !== JSON.stringify(this.wishes)) this.#write({ wishes });
  }

  get mayWish(): boolean {
    return this.wishes.length < MAX_WISHES;
  }

  /** What is written of the camera is marked by now. */
  marked(cameraId: string, markedMs: number): void {
    const isOne = (one: Wish): boolean => one.cameraId === cameraId && one.markedMs === null;
    if (!this.wishes.some(isOne)) return;
    this.#write({ wishes: this.wishes.map((one) => (isOne(one) ? { ...one, markedMs } : one)) });
  }

  /** All that they mean is gone. */
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
