import type { VideoSink } from '../codec/frame-sink.js';
import { endWithoutZeros, isKeyH264, isKeyH265, nalTypeH264, nalTypeH265 } from '../codec/nal.js';
import { findStartCode } from '../codec/nal-cursor.js';
import type { VideoCodec } from '../codec/track.js';
import { AccessUnit } from './access-unit.js';
import type { NalRole } from './nal-role.js';
import { isSlice, ROLE, roleOfH264, roleOfH265 } from './nal-role.js';
import { SideBuffer } from './side-buffer.js';

/**
 * Puts NAL units together from what packets hold, and sends slices and SEI to the sink by way of the access
 * unit, parameter sets to `onParameterSet`. Slices in fragments go to the sink as they come; other fragments
 * wait in a side buffer, where they can be looked at as a whole.
 *
 * Some cameras (V380) put an Annex B stream into RTP, start codes and all. Once a start code shows where a
 * healthy stream has none, every unit of the session is searched for more; slices of healthy streams never are.
 */
export class NalAssembler {
  readonly accessUnit: AccessUnit;
  readonly #isH265: boolean;
  readonly #sink: VideoSink;
  readonly #side = new SideBuffer();
  readonly #header = Buffer.alloc(2);
  /** Where the open NAL unit goes; header: nothing but its header came as yet. */
  #fragment: 'none' | 'header' | 'sink' | 'side' | 'ignored' = 'none';
  #isAnnexB = false;

  constructor(codec: VideoCodec, sink: VideoSink) {
    this.#isH265 = codec === 'h265';
    this.#sink = sink;
    this.accessUnit = new AccessUnit(sink);
  }

  /** See `AccessUnit.startPacket`. */
  startPacket(timestamp: number, lostBefore: number): void {
    this.accessUnit.startPacket(timestamp, lostBefore);
    if (lostBefore > 0) this.#fragment = 'none';
  }

  endPacket(marker: boolean): void {
    this.accessUnit.endPacket(marker, this.#fragment !== 'none');
  }

  /** A whole NAL unit, of which zeros at its end are no part: ffmpeg leaves one on H.265. */
  unit(buffer: Buffer, start: number, paddedEnd: number): void {
    if (this.#fragment !== 'none') this.#closeUnfinished();
    const end = endWithoutZeros(buffer, start, paddedEnd);
    if (start >= end) return;
    if (this.#isAnnexB || startsWithZeros(buffer, start, end)) {
      this.#split(buffer, start, end);
      return;
    }
    const role = this.#roleOf(buffer[start]!, start + 1 < end ? buffer[start + 1]! : 0, buffer, start, end);
    if (isSlice(role) || role <= ROLE.dropped || findStartCode(buffer, start, end) < 0) {
      this.#deliver(role, buffer, start, end);
    } else {
      this.#split(buffer, start, end);
    }
  }

  /** The first fragment of a NAL unit, whose header is told apart from the data that follows it. */
  startFragments(header: number, secondHeader: number, buffer: Buffer, start: number, end: number): void {
    if (this.#fragment !== 'none') this.#closeUnfinished();
    const headerBytes = this.#isH265 ? 2 : 1;
    this.#header[0] = header;
    this.#header[1] = secondHeader;
    if (start === end) {
      this.#fragment = 'header';
      return;
    }
    const role = this.#roleOf(header, secondHeader, buffer, start - headerBytes, end);
    if (this.#isAnnexB || !isSlice(role)) {
      this.#side.clear();
      this.#fragment = 'side';
      this.#side.append(this.#header, 0, headerBytes);
    } else if (this.accessUnit.admit(role, this.#isKey(header))) {
      this.#fragment = 'sink';
      this.accessUnit.beginNal();
      this.accessUnit.append(this.#header, 0, headerBytes);
    } else {
      this.#fragment = 'ignored';
    }
    this.continueFragments(header, secondHeader, buffer, start, end);
  }

  /** Another fragment; the header counts only if the unit's beginning never came. */
  continueFragments(header: number, secondHeader: number, buffer: Buffer, start: number, end: number): void {
    switch (this.#fragment) {
      case 'sink':
        this.accessUnit.append(buffer, start, end);
        break;
      case 'header':
        this.#fragment = 'none';
        this.startFragments(this.#header[0]!, this.#header[1]!, buffer, start, end);
        break;
      case 'side':
        if (this.#side.append(buffer, start, end)) break;
        this.accessUnit.malformed();
        this.accessUnit.damage();
        this.#fragment = 'ignored';
        break;
      case 'ignored':
        break;
      case 'none':
        if (isSlice(this.#roleOf(header, secondHeader, buffer, end, end))) this.accessUnit.headless();
        break;
    }
  }

  /** A packet that can't be read: part of the access unit that it belongs to is missing. */
  broken(): void {
    // If that is the next one, what is open belongs to the one that is ended now.
    if (this.#fragment === 'sink') this.accessUnit.endNal();
    this.#fragment = 'none';
    this.accessUnit.malformed();
    this.accessUnit.damage();
  }

  endFragments(): void {
    const fragment = this.#fragment;
    this.#fragment = 'none';
    if (fragment === 'sink') this.accessUnit.endNal();
    else if (fragment === 'side') this.unit(this.#side.bytes, 0, this.#side.lengthBytes);
  }

  reset(): void {
    this.#fragment = 'none';
    this.#isAnnexB = false;
    this.accessUnit.reset();
  }

  /** Something new began although no end bit was seen. No packet is missing, so the unit is all there. */
  #closeUnfinished(): void {
    this.accessUnit.malformed();
    this.endFragments();
  }

  #split(buffer: Buffer, start: number, end: number): void {
    for (let at = start; at < end; ) {
      const code = findStartCode(buffer, at, end);
      if (code >= 0) this.#isAnnexB = true;
      const stop = endWithoutZeros(buffer, at, code < 0 ? end : code);
      if (stop > at) {
        const secondHeader = at + 1 < stop ? buffer[at + 1]! : 0;
        this.#deliver(this.#roleOf(buffer[at]!, secondHeader, buffer, at, stop), buffer, at, stop);
      }
      at = code < 0 ? end : code + 3;
    }
  }

  #deliver(role: NalRole, buffer: Buffer, start: number, end: number): void {
    if (role === ROLE.invalid) this.accessUnit.malformed();
    const isWanted = this.accessUnit.admit(role, this.#isKey(buffer[start]!));
    if (role === ROLE.parameterSet) {
      // Whole as it is, whatever becomes of the access unit around it.
      this.#sink.onParameterSet(buffer, start, end);
    } else if (isWanted && role !== ROLE.delimiter) {
      this.accessUnit.beginNal();
      this.accessUnit.append(buffer, start, end);
      this.accessUnit.endNal();
    }
  }

  #roleOf(header: number, secondHeader: number, buffer: Buffer, start: number, end: number): NalRole {
    return this.#isH265
      ? roleOfH265(header, secondHeader, buffer, start, end)
      : roleOfH264(header, buffer, start, end);
  }

  #isKey(header: number): boolean {
    return this.#isH265 ? isKeyH265(nalTypeH265(header)) : isKeyH264(nalTypeH264(header));
  }
}

/** Two zero bytes can't begin a NAL unit of either codec: a start code stands there. */
const startsWithZeros = (buffer: Buffer, start: number, end: number): boolean =>
  start + 1 < end && buffer[start] === 0 && buffer[start + 1] === 0;
