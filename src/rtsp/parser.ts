import { CarryBuffer } from './carry-buffer.js';
import { type RtspError, rtspError } from './errors.js';
import {
  parseHeaders,
  parseStartLine,
  type RtspHeaders,
  type RtspRequest,
  type RtspResponse,
  type StartLine,
} from './message.js';

/** Who is told what the parser finds; called synchronously from `feed`. */
export interface RtspParserHandler {
  /** The payload of an interleaved frame on a known channel: `buffer[start, end)`, valid during the call only. */
  onInterleaved(channel: number, buffer: Buffer, start: number, end: number): void;
  onResponse(response: RtspResponse): void;
  onRequest(request: RtspRequest): void;
}

export type RtspLimits = {
  readonly lineBytes: number;
  readonly headBytes: number;
  readonly headerLines: number;
  readonly bodyBytes: number;
  /** Garbage in one stretch, until something makes sense again. */
  readonly garbageBytes: number;
};

export const defaultLimits: RtspLimits = {
  lineBytes: 8192,
  headBytes: 65_536,
  headerLines: 256,
  bodyBytes: 1_048_576,
  garbageBytes: 262_144,
};

/** Added to, never reset. */
export type ParserCounters = {
  /** Bytes that belong to no message and no frame. */
  garbageBytes: number;
  /** Interleaved frames on channels that no SETUP assigned. */
  unknownChannelFrames: number;
};

/** What a stretch of the stream begins with, as far as its first bytes tell. */
type Opening = 'more' | 'frame' | 'message' | 'garbage';

const DOLLAR = 0x24;
const LF = 0x0a;
const CR = 0x0d;
const FRAME_HEADER_BYTES = 4;
/** RTCP's smallest packet; only asked for where we look for the next frame in garbage. */
const LEAST_RESYNC_BYTES = 8;

/** An answer, or a request that a camera may send. */
const messageOpenings = [
  'RTSP/',
  'OPTIONS ',
  'ANNOUNCE ',
  'REDIRECT ',
  'SET_PARAMETER ',
  'GET_PARAMETER ',
  'DESCRIBE ',
  'SETUP ',
  'PLAY ',
  'PAUSE ',
  'RECORD ',
  'TEARDOWN ',
].map((text) => Buffer.from(text, 'latin1'));

const isMessageInitial = new Uint8Array(256);
for (const opening of messageOpenings) isMessageInitial[opening[0]!] = 1;

const messageOpeningAt = (buffer: Buffer, at: number, end: number): Opening => {
  let isCut = false;
  for (const token of messageOpenings) {
    const length = Math.min(token.length, end - at);
    let same = 0;
    while (same < length && buffer[at + same] === token[same]) same += 1;
    if (same === token.length) return 'message';
    if (same === end - at) isCut = true;
  }
  return isCut ? 'more' : 'garbage';
};

/**
 * A push parser of an RTSP connection (RFC 2326 §4, §10.12): messages and interleaved frames in any order and
 * any chunking. It does no I/O. A frame that lies whole in the chunk is handed on in place; one that straddles
 * two reads goes through a small buffer, since the chunk is reused for the next read.
 *
 * Between elements it passes over garbage (quirk 16), counted and bounded, up to what is surely a beginning: a
 * message's first word, or `$` with a known channel, a sane length and RTP's version bits. `feed` throws AppError
 * `protocol_error` with the byte position where a bound is broken; the parser is dead from then on.
 */
export class RtspParser {
  readonly #counters: ParserCounters;
  readonly #handler: RtspParserHandler;
  readonly #limits: RtspLimits;
  readonly #isKnownChannel = new Uint8Array(256);
  readonly #carry = new CarryBuffer();
  #state: 'start' | 'opening' | 'frame' | 'skip' | 'head' | 'body' = 'start';
  #isStopped = false;
  #isInSync = true;
  /** Of the element in the carry buffer (frame, body), or still to be passed over (skip). */
  #neededBytes = 0;
  #garbageRun = 0;
  #lineStart = 0;
  #startLine: StartLine | null = null;
  #headerLines: string[] = [];
  #headers: RtspHeaders | null = null;
  #bodyStart = 0;
  /** Of the current chunk's offset 0 in the stream; negative where the chunk starts late. */
  #chunkOrigin = 0;
  #fedBytes = 0;

  constructor(handler: RtspParserHandler, counters: ParserCounters, limits: RtspLimits = defaultLimits) {
    this.#handler = handler;
    this.#counters = counters;
    this.#limits = limits;
  }

  /** Bytes fed so far. */
  get fedBytes(): number {
    return this.#fedBytes;
  }

  /** Frames on this channel are handed on from now on. */
  allowChannel(channel: number): void {
    this.#isKnownChannel[channel] = 1;
  }

  /** Nothing more is handed on, not even from the chunk that is being fed. */
  stop(): void {
    this.#isStopped = true;
    this.#carry.clear();
  }

  /** Takes the next bytes of the stream: `chunk[start, end)`. */
  feed(chunk: Buffer, start: number, end: number): void {
    this.#chunkOrigin = this.#fedBytes - start;
    this.#fedBytes += end - start;
    let at = start;
    try {
      while (at < end && !this.#isStopped) at = this.#step(chunk, at, end);
    } catch (error) {
      this.stop();
      throw error;
    }
  }

  #step(chunk: Buffer, at: number, end: number): number {
    switch (this.#state) {
      case 'start':
        return this.#onStart(chunk, at, end);
      case 'opening':
        return this.#onOpening(chunk, at);
      case 'frame':
        return this.#onFrame(chunk, at, end);
      case 'skip': {
        const skipped = Math.min(this.#neededBytes, end - at);
        this.#neededBytes -= skipped;
        if (this.#neededBytes === 0) this.#state = 'start';
        return at + skipped;
      }
      case 'head':
        return this.#onHead(chunk, at, end);
      case 'body':
        return this.#onBody(chunk, at, end);
    }
  }

  /** The hot loop: whole frames, in place. */
  #onStart(chunk: Buffer, start: number, end: number): number {
    let at = start;
    while (at + FRAME_HEADER_BYTES <= end && this.#isInSync && chunk[at] === DOLLAR) {
      const channel = chunk[at + 1]!;
      const next = at + FRAME_HEADER_BYTES + ((chunk[at + 2]! << 8) | chunk[at + 3]!);
      if (next > end || this.#isKnownChannel[channel] === 0) break;
      this.#handler.onInterleaved(channel, chunk, at + FRAME_HEADER_BYTES, next);
      if (this.#isStopped) return end;
      at = next;
    }
    if (at === end) return at;
    switch (this.#openingAt(chunk, at, end)) {
      case 'frame':
        this.#openFrame(chunk, at);
        return at;
      case 'message':
        this.#openHead();
        return at;
      case 'garbage':
        this.#countGarbage(1);
        return at + 1;
      case 'more':
        this.#carry.append(chunk, at, end);
        this.#state = 'opening';
        return end;
    }
  }

  #openingAt(buffer: Buffer, at: number, end: number): Opening {
    const first = buffer[at]!;
    if (first !== DOLLAR) {
      return isMessageInitial[first] === 1 ? messageOpeningAt(buffer, at, end) : 'garbage';
    }
    const available = end - at;
    if (this.#isInSync) return available < FRAME_HEADER_BYTES ? 'more' : 'frame';
    if (available > 1 && this.#isKnownChannel[buffer[at + 1]!] === 0) return 'garbage';
    if (available < FRAME_HEADER_BYTES + 1) return 'more';
    const isSane = buffer.readUInt16BE(at + 2) >= LEAST_RESYNC_BYTES && buffer[at + 4]! >> 6 === 2;
    return isSane ? 'frame' : 'garbage';
  }

  /** The first bytes of an element came in pieces: takes one more, until they tell what it is. */
  #onOpening(chunk: Buffer, at: number): number {
    const carry = this.#carry;
    carry.append(chunk, at, at + 1);
    while (carry.length > 0) {
      const opening = this.#openingAt(carry.bytes, 0, carry.length);
      if (opening === 'more') return at + 1;
      if (opening === 'frame') {
        this.#openFrame(carry.bytes, 0);
        return at + 1;
      }
      if (opening === 'message') {
        this.#openHead();
        return at + 1;
      }
      carry.shift(1);
      this.#countGarbage(1);
    }
    this.#state = 'start';
    return at + 1;
  }

  /** `buffer[at]` begins a frame that isn't whole in the chunk, or that nobody wants. */
  #openFrame(buffer: Buffer, at: number): void {
    this.#isInSync = true;
    this.#garbageRun = 0;
    const totalBytes = FRAME_HEADER_BYTES + buffer.readUInt16BE(at + 2);
    if (this.#isKnownChannel[buffer[at + 1]!] === 1) {
      this.#neededBytes = totalBytes;
      if (this.#carry.length === totalBytes) this.#endFrame();
      else this.#state = 'frame';
      return;
    }
    this.#counters.unknownChannelFrames += 1;
    this.#neededBytes = totalBytes - this.#carry.length;
    this.#carry.clear();
    this.#state = this.#neededBytes === 0 ? 'start' : 'skip';
  }

  #onFrame(chunk: Buffer, at: number, end: number): number {
    const carry = this.#carry;
    const next = at + this.#neededBytes - carry.length;
    if (carry.length === 0 && next <= end) {
      // The first frame after garbage, whole in the chunk after all.
      this.#state = 'start';
      this.#handler.onInterleaved(chunk[at + 1]!, chunk, at + FRAME_HEADER_BYTES, next);
      return next;
    }
    carry.reserve(this.#neededBytes);
    carry.append(chunk, at, Math.min(next, end));
    if (next > end) return end;
    this.#endFrame();
    return next;
  }

  /** The frame in the carry buffer is whole. */
  #endFrame(): void {
    const carry = this.#carry;
    this.#state = 'start';
    this.#handler.onInterleaved(carry.bytes[1]!, carry.bytes, FRAME_HEADER_BYTES, this.#neededBytes);
    carry.clear();
  }

  #openHead(): void {
    this.#state = 'head';
    this.#lineStart = 0;
    this.#startLine = null;
    this.#headerLines = [];
  }

  /** Takes the rest of a line. */
  #onHead(chunk: Buffer, start: number, end: number): number {
    let at = start;
    while (at < end && chunk[at] !== LF) at += 1;
    const isWhole = at < end;
    if (isWhole) at += 1;
    const carry = this.#carry;
    const headBytes = carry.length + at - start;
    if (headBytes - this.#lineStart > this.#limits.lineBytes) throw this.#broken('a line is too long', at);
    if (headBytes > this.#limits.headBytes) throw this.#broken('a message head is too long', at);
    carry.append(chunk, start, at);
    if (isWhole) this.#onLine(at);
    return at;
  }

  #onLine(at: number): void {
    const carry = this.#carry;
    let lineEnd = carry.length - 1;
    if (lineEnd > this.#lineStart && carry.bytes[lineEnd - 1] === CR) lineEnd -= 1;
    const line = carry.bytes.toString('latin1', this.#lineStart, lineEnd);
    this.#lineStart = carry.length;
    if (this.#startLine === null) {
      this.#startLine = parseStartLine(line);
      if (this.#startLine !== null) return;
      this.#state = 'start';
      const lineBytes = carry.length;
      carry.clear();
      this.#countGarbage(lineBytes);
    } else if (line === '') {
      this.#onHeadEnd(at);
    } else {
      if (this.#headerLines.length >= this.#limits.headerLines) throw this.#broken('too many headers', at);
      this.#headerLines.push(line);
    }
  }

  #onHeadEnd(at: number): void {
    const headers = parseHeaders(this.#headerLines);
    this.#headerLines = [];
    this.#isInSync = true;
    this.#garbageRun = 0;
    this.#headers = headers;
    const told = headers.get('content-length') ?? '';
    const bodyBytes = told === '' ? 0 : Number.parseInt(told, 10);
    if (!(bodyBytes >= 0)) throw this.#broken('a Content-Length is no number', at);
    if (bodyBytes > this.#limits.bodyBytes) throw this.#broken('a message body is too long', at);
    this.#bodyStart = this.#carry.length;
    this.#neededBytes = this.#carry.length + bodyBytes;
    this.#state = 'body';
    if (bodyBytes === 0) this.#onMessage();
  }

  #onBody(chunk: Buffer, at: number, end: number): number {
    const next = Math.min(end, at + this.#neededBytes - this.#carry.length);
    this.#carry.append(chunk, at, next);
    if (this.#carry.length === this.#neededBytes) this.#onMessage();
    return next;
  }

  #onMessage(): void {
    const startLine = this.#startLine;
    const headers = this.#headers;
    const body = Buffer.from(this.#carry.bytes.subarray(this.#bodyStart, this.#carry.length));
    this.#carry.clear();
    this.#state = 'start';
    this.#startLine = null;
    this.#headers = null;
    if (startLine === null || headers === null) return;
    if (startLine.kind === 'response') this.#handler.onResponse({ ...startLine, headers, body });
    else this.#handler.onRequest({ ...startLine, headers, body });
  }

  #countGarbage(count: number): void {
    this.#isInSync = false;
    this.#counters.garbageBytes += count;
    this.#garbageRun += count;
    if (this.#garbageRun > this.#limits.garbageBytes) {
      throw rtspError('protocol_error', 'what the camera sends is no RTSP', {
        details: { garbageBytes: this.#garbageRun, fedBytes: this.#fedBytes },
      });
    }
  }

  #broken(what: string, at: number): RtspError {
    return rtspError('protocol_error', `the camera's RTSP breaks a bound: ${what}`, {
      details: { bytePosition: this.#chunkOrigin + at },
    });
  }
}
