/**
 * The binary messages in which the service sends frames (`src/wire`), live and recorded. Whatever comes, it is read
 * within its own bytes, or it is null.
 */
export type FrameMessage = {
  readonly kind: 'frame';
  readonly stream: number;
  /** Of the stream's frames, modulo 2^32: a jump is a loss. */
  readonly index: number;
  readonly isKey: boolean;
  /** The source broke off before this frame. */
  readonly brokeOff: boolean;
  /** How much later than decoded it is shown. */
  readonly compositionUs: number;
  readonly decodeUs: number;
  /** Of the service's clock, when it saw the frame. */
  readonly wallUs: number;
  /** Annex B without parameter sets, or a frame of sound; a view of the message. */
  readonly data: Uint8Array<ArrayBuffer>;
};

export type ConfigMessage = {
  readonly kind: 'config';
  readonly stream: number;
  /** Pictures that wait for others because of display order; null: the stream doesn't say. */
  readonly reorderDepth: number | null;
  /** Of sound: channels. */
  readonly width: number;
  /** Of sound: 0. */
  readonly height: number;
  /** Frames a second; null: not said. Of sound: samples a second. */
  readonly rateHz: number | null;
  readonly codec: string;
  /** Parameter sets as Annex B; of sound what its decoder wants for a description. */
  readonly sets: Uint8Array<ArrayBuffer>;
};

export type GapMessage = {
  readonly kind: 'gap';
  readonly stream: number;
  readonly fromUs: number;
  readonly toUs: number;
  readonly reason: string;
};

export type StreamMessage = FrameMessage | ConfigMessage | GapMessage;

const CONFIG = 0x11;
const FRAME = 0x12;
const GAP = 0x13;
const CONFIG_HEAD_BYTES = 16;
const FRAME_HEAD_BYTES = 32;
const GAP_HEAD_BYTES = 24;
const KEY = 1;
const BROKE_OFF = 2;
const UNKNOWN_REORDER_DEPTH = 255;
const U32 = 0x1_0000_0000;

const latin1 = new TextDecoder('latin1');

const microseconds = (view: DataView, at: number): number =>
  view.getUint32(at) * U32 + view.getUint32(at + 4);

const readFrame = (view: DataView, bytes: Uint8Array<ArrayBuffer>): FrameMessage => ({
  kind: 'frame',
  stream: view.getUint32(4),
  index: view.getUint32(8),
  isKey: (view.getUint8(1) & KEY) !== 0,
  brokeOff: (view.getUint8(1) & BROKE_OFF) !== 0,
  compositionUs: view.getInt32(12),
  decodeUs: microseconds(view, 16),
  wallUs: microseconds(view, 24),
  data: bytes.subarray(FRAME_HEAD_BYTES),
});

const readConfig = (view: DataView, bytes: Uint8Array<ArrayBuffer>): ConfigMessage | null => {
  const setsAt = CONFIG_HEAD_BYTES + view.getUint16(2);
  if (setsAt > bytes.length) return null;
  const height = view.getUint16(10);
  const rate = view.getUint32(12);
  const depth = view.getUint8(1);
  return {
    kind: 'config',
    stream: view.getUint32(4),
    reorderDepth: depth === UNKNOWN_REORDER_DEPTH ? null : depth,
    width: view.getUint16(8),
    height,
    // Sound has no height; its samples a second are said as they are.
    rateHz: rate === 0 ? null : height === 0 ? rate : rate / 1_000,
    codec: latin1.decode(bytes.subarray(CONFIG_HEAD_BYTES, setsAt)),
    sets: bytes.subarray(setsAt),
  };
};

const readGap = (view: DataView, bytes: Uint8Array<ArrayBuffer>): GapMessage | null => {
  const end = GAP_HEAD_BYTES + view.getUint8(1);
  if (end > bytes.length) return null;
  return {
    kind: 'gap',
    stream: view.getUint32(4),
    fromUs: microseconds(view, 8),
    toUs: microseconds(view, 16),
    reason: latin1.decode(bytes.subarray(GAP_HEAD_BYTES, end)),
  };
};

/** What a message says, or null: it is cut off, or of a kind that this page doesn't know. Copies nothing. */
export const readMessage = (bytes: Uint8Array<ArrayBuffer>): StreamMessage | null => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes[0] === FRAME) return bytes.length < FRAME_HEAD_BYTES ? null : readFrame(view, bytes);
  if (bytes[0] === CONFIG) return bytes.length < CONFIG_HEAD_BYTES ? null : readConfig(view, bytes);
  if (bytes[0] === GAP) return bytes.length < GAP_HEAD_BYTES ? null : readGap(view, bytes);
  return null;
};

/** The stream that a message is of, without reading the rest; null where it can't be one. */
export const streamOf = (bytes: Uint8Array<ArrayBuffer>): number | null =>
  bytes.length < CONFIG_HEAD_BYTES ? null : new DataView(bytes.buffer, bytes.byteOffset).getUint32(4);

export const isConfig = (bytes: Uint8Array): boolean => bytes[0] === CONFIG;

/** The moment at which a frame is shown, in its stream's own time. */
export const shownUs = ({ decodeUs, compositionUs }: FrameMessage): number =>
  Math.max(0, decodeUs + compositionUs);
