import { relayError } from '../relay-error.js';
import {
  FRAME_HEAD_BYTES,
  HEAD_BYTES,
  MAX_ASKED_BYTES,
  MAX_FRAME_BYTES,
  MAX_FRAME_HEAD_BYTES,
  MAX_PIECE_BYTES,
  MAX_SOUND_BYTES,
  MAX_TEXT_BYTES,
  messageType,
  type TextType,
} from './format.js';

/** A frame as the other side tells of it. The same record is filled in for each. */
export class FrameHead {
  isVideo = false;
  flags = 0;
  sequence = 0;
  ptsTicks = Number.NaN;
  dtsTicks = Number.NaN;
  wallMs = Number.NaN;
  ageMs = Number.NaN;
  lengthBytes = 0;
}

/** What a reader of the wire calls; it may throw, which ends the reading. */
export interface WireHandler {
  onText(type: TextType, text: string): void;
  onSeen(seenBytes: number): void;
  /** A frame begins: its bytes follow in pieces, and then its end. */
  onFrame(head: Readonly<FrameHead>): void;
  /** Of a frame, or of an answer. */
  onBytes(source: Buffer, start: number, end: number): void;
  onFrameEnd(): void;
}

/** Who is listened to: a sender has frames, and whoever answers has pieces of what was asked for. */
export type WireSide = 'sender' | 'puller' | 'asker' | 'answerer';

const textTypes: readonly TextType[] = [
  ...(['hello', 'welcome', 'description', 'end', 'ask', 'answer', 'detection'] as const),
];
const textTypeOf = new Map<number, TextType>(textTypes.map((name) => [messageType[name], name]));
const SEEN_BODY_BYTES = 8;
const maxBytesOf = (type: number): number =>
  type === messageType.ask || type === messageType.answer ? MAX_ASKED_BYTES : MAX_TEXT_BYTES;
/** A frame's age in its sender's ring, the float's rounding included. */
const MAX_AGE_MS = 24 * 3_600_000;

const refuse = (what: string): never => {
  throw relayError('relay_protocol', what);
};

/**
 * Takes a stream of messages apart, however it is cut up. Frames' bytes go through as they come; all else is collected,
 * and is small. Throws `relay_protocol`, and is of no use after that.
 */
export class WireReader {
  readonly #handler: WireHandler;
  readonly #takesFrames: boolean;
  readonly #takesPieces: boolean;
  readonly #frame = new FrameHead();
  /** What is collected of a head or of a body. */
  #carry = Buffer.allocUnsafe(MAX_FRAME_HEAD_BYTES);
  #carried = 0;
  /** What is collected now, and how much it is. */
  #state: 'head' | 'body' | 'frame-head' | 'frame' | 'passed' = 'head';
  #wantedBytes = HEAD_BYTES;
  #type = 0;
  #leftBytes = 0;

  constructor(from: WireSide, handler: WireHandler) {
    this.#takesFrames = from === 'sender';
    this.#takesPieces = from === 'answerer';
    this.#handler = handler;
  }

  feed(source: Buffer, start: number, end: number): void {
    let at = start;
    while (at < end) {
      if (this.#state === 'frame' || this.#state === 'passed') at = this.#pass(source, at, end);
      else if (this.#carried === 0 && end - at >= this.#wantedBytes) {
        const wanted = this.#wantedBytes;
        this.#take(source, at, at + wanted);
        at += wanted;
      } else at = this.#collect(source, at, end);
    }
  }

  #collect(source: Buffer, start: number, end: number): number {
    const taken = Math.min(this.#wantedBytes - this.#carried, end - start);
    if (this.#carry.length < this.#wantedBytes) this.#grow();
    source.copy(this.#carry, this.#carried, start, start + taken);
    this.#carried += taken;
    if (this.#carried === this.#wantedBytes) {
      this.#carried = 0;
      this.#take(this.#carry, 0, this.#wantedBytes);
    }
    return start + taken;
  }

  #grow(): void {
    const grown = Buffer.allocUnsafe(this.#wantedBytes);
    this.#carry.copy(grown, 0, 0, this.#carried);
    this.#carry = grown;
  }

  #pass(source: Buffer, start: number, end: number): number {
    const taken = Math.min(this.#leftBytes, end - start);
    if (this.#state === 'frame') this.#handler.onBytes(source, start, start + taken);
    this.#leftBytes -= taken;
    if (this.#leftBytes === 0) this.#endBody(this.#state === 'frame');
    return start + taken;
  }

  #endBody(isFrame: boolean): void {
    this.#want('head', HEAD_BYTES);
    if (isFrame) this.#handler.onFrameEnd();
  }

  #want(state: 'head' | 'body' | 'frame-head', wantedBytes: number): void {
    this.#state = state;
    this.#wantedBytes = wantedBytes;
  }

  /** All that was wanted is there. */
  #take(source: Buffer, start: number, end: number): void {
    if (this.#state === 'head') this.#begin(source.readUInt32BE(start), source[start + 4]!);
    else if (this.#state === 'body') {
      this.#want('head', HEAD_BYTES);
      this.#tell(source, start, end);
    } else this.#takeFrameHead(source, start);
  }

  #begin(lengthBytes: number, type: number): void {
    const bodyBytes = lengthBytes - 1;
    this.#type = type;
    if (bodyBytes < 0) refuse('a message has no type');
    if (bodyBytes > MAX_FRAME_BYTES + MAX_FRAME_HEAD_BYTES) refuse(`a message of ${bodyBytes} bytes`);
    if (type === messageType.video || type === messageType.sound) this.#beginFrame(bodyBytes);
    else if (type === messageType.piece) this.#beginPiece(bodyBytes);
    else if (textTypeOf.has(type)) {
      if (bodyBytes === 0 || bodyBytes > maxBytesOf(type)) refuse(`a text of ${bodyBytes} bytes`);
      this.#want('body', bodyBytes);
    } else if (type === messageType.seen) {
      if (bodyBytes !== SEEN_BODY_BYTES) refuse(`a receipt of ${bodyBytes} bytes`);
      this.#want('body', bodyBytes);
    } else if (bodyBytes > 0) {
      this.#state = 'passed';
      this.#leftBytes = bodyBytes;
    }
  }

  #beginFrame(bodyBytes: number): void {
    if (!this.#takesFrames) refuse('frames from who asks for them');
    if (bodyBytes <= FRAME_HEAD_BYTES) refuse(`a frame of ${bodyBytes} bytes with its head`);
    this.#leftBytes = bodyBytes;
    this.#want('frame-head', FRAME_HEAD_BYTES);
  }

  #beginPiece(bodyBytes: number): void {
    if (!this.#takesPieces) refuse('pieces of an answer from who answers nothing');
    if (bodyBytes === 0 || bodyBytes > MAX_PIECE_BYTES) refuse(`a piece of ${bodyBytes} bytes`);
    this.#leftBytes = bodyBytes;
    this.#state = 'frame';
  }

  #takeFrameHead(source: Buffer, start: number): void {
    const headBytes = source[start]!;
    if (headBytes < FRAME_HEAD_BYTES) refuse(`a frame's head of ${headBytes} bytes`);
    if (headBytes > this.#wantedBytes) {
      // Of a later version: the rest of it is collected, too, and not looked at.
      if (headBytes >= this.#leftBytes) refuse('a frame that is all head');
      if (source !== this.#carry) source.copy(this.#carry, 0, start, start + this.#wantedBytes);
      this.#carried = this.#wantedBytes;
      this.#wantedBytes = headBytes;
      return;
    }
    const frame = this.#frame;
    frame.isVideo = this.#type === messageType.video;
    frame.flags = source[start + 1]!;
    frame.sequence = source.readInt32BE(start + 2);
    frame.ptsTicks = source.readDoubleBE(start + 6);
    frame.dtsTicks = source.readDoubleBE(start + 14);
    frame.wallMs = source.readDoubleBE(start + 22);
    frame.ageMs = source.readFloatBE(start + 30);
    this.#leftBytes -= headBytes;
    frame.lengthBytes = this.#leftBytes;
    this.#check(frame);
    this.#state = 'frame';
    this.#handler.onFrame(frame);
  }

  #check({ isVideo, ptsTicks, dtsTicks, wallMs, ageMs, lengthBytes }: FrameHead): void {
    const isTimed = [ptsTicks, dtsTicks, wallMs].every((time) => Math.abs(time) <= Number.MAX_SAFE_INTEGER);
    if (!isTimed || !(Math.abs(ageMs) <= MAX_AGE_MS)) refuse('a frame of no time');
    if (lengthBytes > (isVideo ? MAX_FRAME_BYTES : MAX_SOUND_BYTES))
      refuse(`a frame of ${lengthBytes} bytes`);
  }

  #tell(source: Buffer, start: number, end: number): void {
    const textType = textTypeOf.get(this.#type);
    if (textType !== undefined) this.#handler.onText(textType, source.toString('utf8', start, end));
    else this.#handler.onSeen(source.readDoubleBE(start));
  }
}
