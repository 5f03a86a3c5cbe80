import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { startReasons } from '../../fmp4/start-reason.js';
import { MAX_LENGTH_MS } from '../files/file-name.js';
import { Moved } from '../files/job-result.js';
import { listFolder, regularStamp } from '../files/scan-folder.js';
import { parseSidecarName } from '../files/sidecar-name.js';
import {
  addCopies,
  MAX_COPIES,
  mayAdd,
  readCopies,
  removeCopies,
  writeCopies,
} from '../offsite/copies-file.js';
import { copyKey, keyOf } from '../offsite/copy.js';
import { type CopyChange, CopyTable, changesIn, FIELDS, isNow, ROW_BYTES } from '../offsite/copy-table.js';

/*
 * What boxes tell each other of a camera's recordings: rows as those of copies, of what lies on one box's disk. One that is
 * being written has no length. Days are compared first, so that a new recording costs the rows of its day.
 */

const DAY_MS = 86_400_000;
const SIDECAR = 10;
/** What names can say: of clocks that were never set, too. */
const FIRST_MS = Date.parse('0000-01-01T00:00:00Z');
const LAST_MS = Date.UTC(9999, 11, 31);
/** What one answer has, but for a day that alone has more. */
const MAX_TOLD_BYTES = 4 << 20;
/** Days that are compared; of more the oldest are sent each time. */
const MAX_DAYS = 4_000;

export type DayDigests = readonly (readonly [day: number, crc: number])[];

const dayAt = (rows: Float64Array, at: number): number => Math.floor(rows[at * FIELDS]! / DAY_MS);

const bytesIn = (rows: Float64Array, first: number, end: number): Uint8Array =>
  new Uint8Array(rows.buffer, rows.byteOffset + first * ROW_BYTES, (end - first) * ROW_BYTES);

/** Of rows in their order: where each day begins and ends. */
function* daysOf(
  rows: Float64Array,
): Generator<{ readonly day: number; readonly first: number; readonly end: number }> {
  const count = rows.length / FIELDS;
  for (let first = 0; first < count; ) {
    const day = dayAt(rows, first);
    let end = first + 1;
    while (end < count && dayAt(rows, end) === day) end += 1;
    yield { day, first, end };
    first = end;
  }
}

const sorted = (rows: Float64Array): Float64Array => {
  const keys = Array.from({ length: rows.length / FIELDS }, (_, at) =>
    copyKey(rows[at * FIELDS]!, rows[at * FIELDS + 1]!),
  );
  const order = keys.map((_, at) => at).sort((a, b) => keys[a]! - keys[b]!);
  const target = new Float64Array(rows.length);
  for (const [to, from] of order.entries())
    target.set(rows.subarray(from * FIELDS, (from + 1) * FIELDS), to * FIELDS);
  return target;
};

/** Whoever asks can keep no more of a camera. */
const newestOf = (rows: Float64Array): Float64Array => rows.subarray(-MAX_COPIES * FIELDS);

/** Of what was seen it shows in the folder alone how much that is. */
const addSidecars = (folder: string, rows: Float64Array): void => {
  const bytesOf = new Map<number, number>();
  for (const name of listFolder(folder)) {
    const sidecar = parseSidecarName(name);
    if (sidecar?.kind !== 'current') continue;
    bytesOf.set(sidecar.startMs, regularStamp(join(folder, name))?.sizeBytes ?? 0);
  }
  if (bytesOf.size === 0) return;
  for (let at = 0; at < rows.length; at += FIELDS) rows[at + SIDECAR] = bytesOf.get(rows[at]!) ?? 0;
};

export type ToldRows = {
  /** Days that whoever asks has, and of which there is nothing. */
  readonly gone: readonly number[];
  /** There are more: it is to ask again. */
  readonly isMore: boolean;
  readonly bytes: Uint8Array<ArrayBuffer>;
};

/** Job: of all recordings of a camera those of days that are others than whoever asks knows; the newest first. */
export const tellRows = (input: {
  readonly folder: string;
  readonly rows: Float64Array;
  readonly days: DayDigests;
}): Moved<ToldRows> => {
  addSidecars(input.folder, input.rows);
  const rows = newestOf(sorted(input.rows));
  const known = new Map(input.days);
  const pieces: Uint8Array[] = [];
  let [bytes, isMore] = [0, false];
  for (const { day, first, end } of [...daysOf(rows)].reverse()) {
    const piece = bytesIn(rows, first, end);
    const isSame = known.get(day) === crc32(piece);
    known.delete(day);
    if (isSame) continue;
    isMore ||= bytes > 0 && bytes + piece.length > MAX_TOLD_BYTES;
    if (isMore) continue;
    pieces.push(piece);
    bytes += piece.length;
  }
  const target = new Uint8Array(new ArrayBuffer(bytes));
  let at = 0;
  for (const piece of pieces) {
    target.set(piece, at);
    at += piece.length;
  }
  return new Moved({ gone: [...known.keys()], isMore, bytes: target }, [target.buffer]);
};

/** Job: what is known of a camera's recordings at another box, by days; null: it can't be read, or only some of it. */
export const knownDays = (input: { readonly path: string }): DayDigests | null => {
  const written = readCopies(input.path);
  if (written === null || written.isPartial) return null;
  const { rows } = written.table;
  const days = [...daysOf(rows)].slice(-MAX_DAYS);
  return days.map(({ day, first, end }) => [day, crc32(bytesIn(rows, first, end))]);
};

const isWhole = (value: number, min: number, max: number): boolean =>
  Number.isSafeInteger(value) && value >= min && value <= max;

/** Whether a row can be one: it says what a name can say, and numbers that are none are nowhere but where they may be. */
const isSound = (row: Float64Array): boolean => {
  const [startMs, endMs, ino, sizeBytes, mtimeMs, ctimeMs, fromMs, toMs, reason, mark] =
    row as unknown as number[];
  const [sidecarBytes, epoch, box, state] = row.subarray(SIDECAR) as unknown as number[];
  return (
    isWhole(startMs!, FIRST_MS, LAST_MS) &&
    isWhole(endMs! - startMs!, 0, MAX_LENGTH_MS) &&
    [startMs!, endMs!].every((time) => time % 1_000 === 0) &&
    [sizeBytes, sidecarBytes].every((value) => isWhole(value!, 0, Number.MAX_SAFE_INTEGER)) &&
    // Inodes of some file systems are larger than what a number tells apart.
    [ino, mtimeMs, ctimeMs].every((value) => Number.isFinite(value)) &&
    [fromMs, toMs].every((time) => Number.isNaN(time) || Number.isFinite(time)) &&
    isWhole(reason!, -1, startReasons.length - 1) &&
    isWhole(epoch!, 0, 2 ** 32) &&
    [mark, box, state].every((value) => value === 0)
  );
};

const rowsIn = (bytes: Uint8Array): Float64Array => {
  const rows = new Float64Array(Math.floor(bytes.length / ROW_BYTES) * FIELDS);
  new Uint8Array(rows.buffer).set(bytes.subarray(0, rows.length * Float64Array.BYTES_PER_ELEMENT));
  return rows;
};

/** Rows that another box sent, whatever it did: those that can be none are left out. */
export const soundRows = (bytes: Uint8Array, box: string): CopyTable => {
  const rows = rowsIn(bytes);
  const sound = changesIn(rows, [box]).filter((_, at) =>
    isSound(rows.subarray(at * FIELDS, (at + 1) * FIELDS)),
  );
  return CopyTable.empty.with(sound);
};

const isSameRow = (a: CopyTable, at: number, b: CopyTable, key: number): boolean => {
  const other = b.indexFrom(key);
  const [mine, theirs] = [a, b].map(({ rows }, which) => {
    const from = (which === 0 ? at : other) * FIELDS;
    return rows.subarray(from, from + FIELDS);
  });
  return mine!.every((value, field) => Object.is(value, theirs![field]));
};

/** What of a table becomes that of these days. */
const changesTo = (before: CopyTable, after: CopyTable, days: ReadonlySet<number>): CopyChange[] => {
  const changes: CopyChange[] = [];
  for (let at = 0; at < before.count; at += 1)
    if (days.has(dayAt(before.rows, at)) && !after.has(before.keyAt(at)))
      changes.push({ key: before.keyAt(at), copy: null });
  for (let at = 0; at < after.count; at += 1) {
    const copy = after.at(at);
    const key = keyOf(copy);
    if (!before.has(key) || !isSameRow(after, at, before, key)) changes.push(isNow(copy));
  }
  return changes;
};

const isSameTable = (a: CopyTable, b: CopyTable): boolean =>
  a.count === b.count && Buffer.compare(bytesIn(a.rows, 0, a.count), bytesIn(b.rows, 0, b.count)) === 0;

/** How many are written now, and whether these are others than before. */
export type TakenRows = { readonly count: number; readonly isOther: boolean };

/** Job: writes down what another box told, the newest of it if that is too much; `isAnew`: of what was known before nothing counts. */
export const takeRows = (input: {
  readonly path: string;
  readonly box: string;
  readonly bytes: Uint8Array;
  readonly gone: readonly number[];
  readonly isAnew: boolean;
}): TakenRows => {
  const { path, box, bytes, gone, isAnew } = input;
  const written = isAnew ? null : readCopies(path);
  const before = written?.table ?? CopyTable.empty;
  const after = soundRows(bytes, box);
  const days = new Set(gone);
  for (const { day } of daysOf(after.rows)) days.add(day);
  const changes = changesTo(before, after, days);
  const all = before.with(changes);
  const isTooMuch = all.count > MAX_COPIES;
  const table = isTooMuch ? new CopyTable(newestOf(all.rows), all.boxes) : all;
  const isOther = isTooMuch ? !isSameTable(before, table) : changes.length > 0;
  if (table.count === 0) removeCopies(path);
  else if (written !== null && !isOther) return { count: table.count, isOther };
  else if (written !== null && !isTooMuch && mayAdd(written, changes)) addCopies(path, written, changes);
  else writeCopies(path, table);
  return { count: table.count, isOther };
};
