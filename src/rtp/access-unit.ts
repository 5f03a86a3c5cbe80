import type { VideoSink } from '../codec/frame-sink.js';
import type { DepacketizerCounters } from './depacketizer.js';
import type { NalRole } from './nal-role.js';
import { isHead, isSlice, ROLE } from './nal-role.js';

/** More NAL units than this in one access unit are no picture (the standards' largest levels allow 600 slices). */
export const MAX_NALS_PER_ACCESS_UNIT = 1024;

/**
 * Decides where access units begin and end, and which are whole. The rules that cameras need are written down
 * in this folder's README; in short: a marker or a new timestamp ends an access unit that has a picture, the
 * slices of one picture stay together whatever the timestamps say, and markers are believed once the first
 * one proved right.
 */
export class AccessUnit {
  readonly counters: DepacketizerCounters = { damagedFrames: 0, malformedPackets: 0, oversizedFrames: 0 };
  /** Something was lost since the last commit; during a commit it speaks of what came before that frame. */
  damagedSinceLastCommit = false;
  readonly #sink: VideoSink;
  /** pending: the marker was seen, but markers are still on trial. */
  #state: 'empty' | 'open' | 'pending' | 'skipping' = 'empty';
  #markers: 'trial' | 'trusted' | 'distrusted' = 'trial';
  #packetTimestamp = 0;
  /** Of the access unit that is open, was committed or is being skipped last. */
  #timestamp = 0;
  #hasPicture = false;
  #isKey = false;
  #nalCount = 0;
  #isNalOpen = false;
  #markerSeen = false;
  #endedByMarker = false;
  /** The next picture has to start with its first slice: packets are missing before it. */
  #needsHead = true;
  /** The missing packets weren't blamed on a frame yet. */
  #hasUncountedLoss = false;

  constructor(sink: VideoSink) {
    this.#sink = sink;
  }

  /**
   * A packet begins, `lostBefore` being missing before it. `timestamp` is signed here, which holds it in a
   * machine word; unsigned ones from 2^31 on would become heap objects, one for each packet.
   */
  startPacket(timestamp: number, lostBefore: number): void {
    this.#packetTimestamp = timestamp;
    if (lostBefore === 0) return;
    if (this.#state === 'pending' && timestamp !== this.#timestamp) this.#commit();
    this.#hasUncountedLoss = true;
    if (this.#state === 'open' && !this.#hasPicture) {
      this.#sink.abort();
      this.#isNalOpen = false;
      this.#state = 'empty';
    } else if (this.#state === 'open' || this.#state === 'pending') {
      this.#skip(this.#timestamp);
    }
    this.#needsHead = true;
    this.damagedSinceLastCommit = true;
  }

  /** A NAL unit begins: ends the access unit before it if that is over. False: the unit isn't wanted. */
  admit(role: NalRole, isKey: boolean): boolean {
    if (role <= ROLE.dropped) return false;
    this.#settleBoundary(role);
    if (this.#state === 'skipping') return false;
    if (this.#state === 'empty' && !this.#open(role)) return false;
    if (!this.#hasPicture) this.#timestamp = this.#packetTimestamp;
    if (isSlice(role)) {
      if (this.#needsHead && role !== ROLE.firstSlice) {
        this.#skip(this.#packetTimestamp);
        return false;
      }
      this.#needsHead = false;
      this.#hasUncountedLoss = false;
      this.#hasPicture = true;
      if (isKey) this.#isKey = true;
    }
    this.#nalCount += 1;
    if (this.#nalCount <= MAX_NALS_PER_ACCESS_UNIT) return true;
    this.#outgrow();
    return false;
  }

  beginNal(): void {
    this.#sink.beginNal();
    this.#isNalOpen = true;
  }

  append(buffer: Buffer, start: number, end: number): void {
    if (this.#isNalOpen && !this.#sink.append(buffer, start, end)) this.#outgrow();
  }

  endNal(): void {
    if (this.#isNalOpen) this.#sink.endNal();
    this.#isNalOpen = false;
  }

  /** Data of a slice whose beginning never came. */
  headless(): void {
    if (this.#state === 'skipping') return;
    if (!this.#needsHead) this.malformed();
    this.damage();
  }

  /** A packet says what the payload format doesn't allow. */
  malformed(): void {
    this.counters.malformedPackets += 1;
  }

  /** Part of the access unit that the current packet belongs to is missing or broken: it is given up. */
  damage(): void {
    const isOver = this.#packetTimestamp !== this.#timestamp;
    if (this.#state === 'pending' && isOver) this.#commit();
    else if (this.#state === 'open' && this.#hasPicture && isOver) this.#commit();
    if (this.#state === 'skipping') return;
    if (!this.#needsHead) this.#hasUncountedLoss = true;
    this.#skip(this.#packetTimestamp);
  }

  /** The packet is over. A marker inside an unfinished NAL unit means nothing. */
  endPacket(marker: boolean, isFragmentOpen: boolean): void {
    if (!marker || isFragmentOpen) return;
    if (this.#state === 'skipping') {
      // The next picture has to prove that it is a new one: this marker may be one of many.
      if (this.#markers !== 'distrusted') this.#state = 'empty';
      this.#markerSeen = true;
      this.#needsHead = true;
      return;
    }
    if (this.#state !== 'open' || !this.#hasPicture) return;
    this.#markerSeen = true;
    if (this.#markers === 'trial') this.#state = 'pending';
    if (this.#markers !== 'trusted') return;
    this.#commit();
    this.#endedByMarker = true;
  }

  reset(): void {
    if (this.#state === 'open' || this.#state === 'pending') this.#sink.abort();
    this.#state = 'empty';
    this.#markers = 'trial';
    this.#isNalOpen = false;
    this.#endedByMarker = false;
    this.#needsHead = true;
    this.#hasUncountedLoss = false;
    this.damagedSinceLastCommit = false;
  }

  /** Ends what ends before a unit of this role. */
  #settleBoundary(role: NalRole): void {
    const isNewTime = this.#packetTimestamp !== this.#timestamp;
    // Where each slice is marked and the timestamp never changes, the first slice is all there is to go by.
    const isNext = (isNewTime && isHead(role)) || (this.#markerSeen && role === ROLE.firstSlice);
    switch (this.#state) {
      case 'pending':
        if (isHead(role) || (isNewTime && role === ROLE.slice)) {
          this.#markers = 'trusted';
          this.#commit();
        } else if (role === ROLE.slice) {
          this.#markers = 'distrusted';
          this.#state = 'open';
        }
        break;
      case 'open':
        if (this.#hasPicture && isNext) this.#commit();
        break;
      case 'skipping':
        if (isNext) this.#state = 'empty';
        break;
      case 'empty':
        break;
    }
  }

  #open(role: NalRole): boolean {
    if (role === ROLE.suffix) return false;
    const continuesCommitted = this.#endedByMarker && this.#packetTimestamp === this.#timestamp;
    if (role === ROLE.slice && continuesCommitted && !this.#needsHead) {
      // A marker on every slice: that commit was too early, and no marker is believed again.
      this.#markers = 'distrusted';
      this.#hasUncountedLoss = true;
      this.#skip(this.#timestamp);
      return false;
    }
    this.#state = 'open';
    this.#hasPicture = false;
    this.#isKey = false;
    this.#nalCount = 0;
    this.#markerSeen = false;
    return true;
  }

  /** Gives up the access unit of `timestamp` and what is still to come of it. */
  #skip(timestamp: number): void {
    if (this.#state === 'open' || this.#state === 'pending') this.#sink.abort();
    this.#isNalOpen = false;
    this.#state = 'skipping';
    this.#timestamp = timestamp;
    this.#markerSeen = false;
    this.#endedByMarker = false;
    if (!this.#hasUncountedLoss) return;
    this.#hasUncountedLoss = false;
    this.counters.damagedFrames += 1;
    this.damagedSinceLastCommit = true;
  }

  #outgrow(): void {
    this.counters.oversizedFrames += 1;
    this.#hasUncountedLoss = false;
    this.#skip(this.#timestamp);
    this.damagedSinceLastCommit = true;
  }

  #commit(): void {
    this.#sink.commit(this.#timestamp >>> 0, this.#isKey);
    this.damagedSinceLastCommit = false;
    this.#state = 'empty';
    this.#endedByMarker = false;
  }
}
