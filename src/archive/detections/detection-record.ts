import { crc32 } from 'node:zlib';

/** Something that was seen in a picture; the box from top left, as fractions of the picture. */
export type KeptObject = {
  readonly label: string;
  readonly score: number;
  readonly box: readonly [x: number, y: number, width: number, height: number];
  /** "": none. */
  readonly zone: string;
};

/** What was seen in one picture; nothing, where what was seen before is there no more. */
export type KeptDetection = {
  /** When the picture was taken. */
  readonly wallMs: number;
  readonly source: 'model' | 'onvif';
  readonly objects: readonly KeptObject[];
};

const SOURCES = ['model', 'onvif'] as const;
/** Of a picture with more the first ones are kept, which fit into a page. */
const MAX_OBJECTS = 64;
const MAX_TEXT_BYTES = 64;
/** As exact as subtitles are. */
const STEPS = 10_000;

/** u16 length of the body, u32 CRC-32 of the body. */
export const RECORD_HEAD_BYTES = 6;
/** f64 wall time, u8 source, u8 count of objects. */
const BODY_HEAD_BYTES = 10;
/** u16 score, four u16 of the box; each text has its length before it. */
const OBJECT_BYTES = 10;
export const MAX_RECORD_BYTES =
  RECORD_HEAD_BYTES + BODY_HEAD_BYTES + MAX_OBJECTS * (OBJECT_BYTES + 2 * (1 + MAX_TEXT_BYTES));

/** As many whole characters of a text as there is room for. */
const textBytes = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_TEXT_BYTES) return bytes;
  let end = MAX_TEXT_BYTES;
  // RFC 3629 §3: what goes on with a character begins with 10.
  while (end > 0 && (bytes[end]! & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
};

const stepsOf = (fraction: number): number => Math.round(Math.min(Math.max(fraction, 0), 1) * STEPS);

/** A record, as it is written. */
export const encodeRecord = ({ wallMs, source, objects }: KeptDetection): Buffer => {
  const kept = objects.slice(0, MAX_OBJECTS);
  const texts = kept.map(({ label, zone }) => [textBytes(label), textBytes(zone)] as const);
  const bodyBytes = texts.reduce(
    (sum, [label, zone]) => sum + OBJECT_BYTES + 2 + label.length + zone.length,
    BODY_HEAD_BYTES,
  );
  const record = Buffer.alloc(RECORD_HEAD_BYTES + bodyBytes);
  const body = record.subarray(RECORD_HEAD_BYTES);
  body.writeDoubleBE(wallMs, 0);
  body.writeUInt8(SOURCES.indexOf(source), 8);
  body.writeUInt8(kept.length, 9);
  let at = BODY_HEAD_BYTES;
  for (const [index, { score, box }] of kept.entries()) {
    for (const fraction of [score, ...box]) at = body.writeUInt16BE(stepsOf(fraction), at);
    for (const text of texts[index]!) {
      at = body.writeUInt8(text.length, at);
      at += text.copy(body, at);
    }
  }
  record.writeUInt16BE(bodyBytes, 0);
  record.writeUInt32BE(crc32(body), 2);
  return record;
};

/** Bytes of the whole record at `at`; 0: there is none, be it that the page has no more, or that it is damaged. */
export const recordBytesAt = (page: Buffer, at: number): number => {
  if (at + RECORD_HEAD_BYTES > page.length) return 0;
  const end = at + RECORD_HEAD_BYTES + page.readUInt16BE(at);
  if (end < at + RECORD_HEAD_BYTES + BODY_HEAD_BYTES || end > page.length) return 0;
  const isWhole = crc32(page.subarray(at + RECORD_HEAD_BYTES, end)) === page.readUInt32BE(at + 2);
  return isWhole ? end - at : 0;
};

/** When the picture of a whole record was taken. */
export const recordTimeAt = (page: Buffer, at: number): number => page.readDoubleBE(at + RECORD_HEAD_BYTES);

/** What a whole record says; null: nothing that we would have written. */
export const decodeRecord = (record: Buffer): KeptDetection | null => {
  const body = record.subarray(RECORD_HEAD_BYTES);
  const wallMs = body.readDoubleBE(0);
  const source = SOURCES[body[8]!];
  if (!Number.isFinite(wallMs) || source === undefined) return null;
  const objects: KeptObject[] = [];
  let at = BODY_HEAD_BYTES;
  const text = (): string | null => {
    const end = at + 1 + (body[at] ?? 0);
    if (at >= body.length || end > body.length) return null;
    const found = body.toString('utf8', at + 1, end);
    at = end;
    return found;
  };
  for (let left = body[9]!; left > 0; left -= 1) {
    if (at + OBJECT_BYTES > body.length) return null;
    const fraction = (index: number): number => body.readUInt16BE(at + 2 * index) / STEPS;
    const score = fraction(0);
    const box = [fraction(1), fraction(2), fraction(3), fraction(4)] as const;
    if (Math.max(score, ...box) > 1) return null;
    at += OBJECT_BYTES;
    const [label, zone] = [text(), text()];
    if (label === null || zone === null) return null;
    objects.push({ label, score, box, zone });
  }
  return at === body.length ? { wallMs, source, objects } : null;
};
