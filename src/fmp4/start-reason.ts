import { ascii, box, zeros } from './box-bytes.js';
import { BoxCursor } from './box-cursor.js';

/**
 * Why a recording file began, which is why the one before it ended: recording was switched on or the service
 * started; the file before was long enough; codec, picture size or sound changed, or parameter sets for the
 * first time; the camera's clock was set; its stream was interrupted; the disk was too slow, full or failing; or, where
 * only what lies around events is kept, what was before it may have been of no event.
 */
export type StartReason = 'start' | 'rollover' | 'format' | 'clock' | 'camera_away' | 'disk' | 'no_event';

/** In an order that archives' facts rely on: new ones come last. */
export const startReasons = [
  'start',
  'rollover',
  'format',
  'clock',
  'camera_away',
  'disk',
  'no_event',
] as const satisfies readonly StartReason[];

const reasons: readonly string[] = startReasons;

/** Made up for this box alone. */
const EXTENDED_TYPE = Buffer.from('9d0f6c1be2a84f5cb3f0d7416a2e58c4', 'hex');
const FULL_BOX_HEAD = zeros(4);
/** Of all boxes that we write into a head. */
const BOX_HEAD_BYTES = 8;

/** A box of our own (ISO 14496-12 §11.1): version and flags, then the reason as text. Other readers pass it over. */
export const startReasonBox = (reason: StartReason): Buffer =>
  box('uuid', EXTENDED_TYPE, FULL_BOX_HEAD, ascii(reason));

/** The reason in the content `bytes[start, end)` of a uuid box; null: it is somebody else's, or says nothing we know. */
export const readStartReason = (bytes: Buffer, start: number, end: number): StartReason | null => {
  const textStart = start + EXTENDED_TYPE.length + FULL_BOX_HEAD.length;
  if (end < textStart || !bytes.subarray(start, start + EXTENDED_TYPE.length).equals(EXTENDED_TYPE))
    return null;
  const text = bytes.toString('latin1', textStart, Math.min(end, textStart + 32));
  return reasons.includes(text) ? (text as StartReason) : null;
};

/** The head of a file, ftyp and moov, with another reason: the last box of moov. */
export const withStartReason = (head: Buffer, reason: StartReason): Buffer => {
  const boxes: Buffer[] = [];
  const cursor = new BoxCursor(head);
  while (cursor.next()) {
    if (cursor.type !== 'moov') {
      boxes.push(head.subarray(cursor.start - BOX_HEAD_BYTES, cursor.end));
      continue;
    }
    const content: Buffer[] = [];
    const inside = cursor.inside();
    while (inside.next()) {
      const isReason = inside.type === 'uuid' && readStartReason(head, inside.start, inside.end) !== null;
      if (!isReason) content.push(head.subarray(inside.start - BOX_HEAD_BYTES, inside.end));
    }
    boxes.push(box('moov', ...content, startReasonBox(reason)));
  }
  return Buffer.concat(boxes);
};
