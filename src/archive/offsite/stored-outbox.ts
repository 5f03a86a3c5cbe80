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

/** What somebody wants gone of a camera, should the store have more of it than is written, or that be lost. */
export type Wish = {
  readonly cameraId: string;
  /** Since it is marked, so that more is copied: what begins later isn't meant. Null: what is written isn't marked yet. */
  readonly markedMs: number | null;
  readonly fromMs: number;
  readonly toMs: number;
  readonly fileNames: readonly string[];
};

/** An upload that is to be ended. */
export type Ended = { readonly object: string; readonly uploadId: string };

type Stored = {
  readonly sendings: readonly Sending[];
  readonly wishes: readonly Wish[];
  readonly ended: readonly Ended[];
};

type Fields = Readonly<Record<string, unknown>>;

const bad = (): never => {
  throw new Error('it makes no sense');
};

const fieldsIn = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : bad();
const textIn = (value: unknown): string => (typeof value === 'string' ? value : bad());
const idIn = (value: unknown): string => textIn(value) || bad();
const numberIn = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : bad();
const flagIn = (value: unknown): boolean => (typeof value === 'boolean' ? value : bad());
const listIn = <Item>(value: unknown, itemIn: (item: unknown) => Item): Item[] =>
  Array.isArray(value) ? value.map((item) => itemIn(item)) : bad();

const sendingIn = (value: unknown): Sending => {
  const { object, source, mark = null, uploadId, parts, isUnwanted } = fieldsIn(value);
  const etags = Object.entries(fieldsIn(parts)).map(([part, etag]) => [part, textIn(etag)] as const);
  return {
    ...{ object: textIn(object), source: textIn(source), isUnwanted: flagIn(isUnwanted) },
    mark: mark === null ? null : numberIn(mark),
    uploadId: uploadId === null ? null : idIn(uploadId),
    parts: Object.fromEntries(etags),
  };
};

const wishIn = (value: unknown): Wish => {
  const { cameraId, fromMs, toMs, fileNames, markedMs = null } = fieldsIn(value);
  return {
    ...{ cameraId: textIn(cameraId), fromMs: numberIn(fromMs), toMs: numberIn(toMs) },
    fileNames: listIn(fileNames, textIn),
    markedMs: markedMs === null ? null : numberIn(markedMs),
  };
};

const endedIn = (value: unknown): Ended => {
  const { object, uploadId } = fieldsIn(value);
  return { object: textIn(object), uploadId: idIn(uploadId) };
};

/** What was written, by hand: threads that run jobs load it, too, each of them. Throws where it makes no sense. */
export const storedIn = (value: unknown): Stored => {
  const { sendings, wishes, ended } = fieldsIn(value);
  return {
    sendings: listIn(sendings, sendingIn),
    wishes: listIn(wishes, wishIn),
    ended: listIn(ended, endedIn),
  };
};
