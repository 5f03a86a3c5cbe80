import type { VideoSink } from '../codec/frame-sink.js';
import type { DepacketizerCounters } from './depacketizer.js';
import type { NalRole } from './nal-role.js';
import { isHead, isSlice, ROLE } from './nal-role.js';

/** More NAL units than this in one access unit are no picture (the standards' largest levels allow 600 slices). */
export const MAX_NALS_PER_ACCESS_UNIT = 1024;

/** Where the stream stands. Numbers, since nothing may be allocated per packet; from `head` on a unit is open. */
const PHASE = {
  /** Between access units. */
  between: 0,
  /** The same, behind one that a trusted marker has ended: if its picture goes on, the marker was wrong. */
  marked: 1,
  /** An access unit was given up: what comes of it is dropped. */
  skipping: 2,
  /** The same, behind a marker that isn't trusted. */
  skippingMarked: 3,
  /** Open, with nothing yet but what stands before a picture. */
  head: 4,
  /** Open, with a picture. */
  picture: 5,
  /** The same, behind a marker that isn't trusted. */
  pictureMarked: 6,
  /** The same, behind the first marker of the session: what follows tells what it is worth. */
  trial: 7,
} as const;
type Phase = (typeof PHASE)[keyof typeof PHASE];

/** What markers are worth: on trial until the first one was proved right or wrong. */
const MARKERS = { onTrial: 0, trusted: 1, distrusted: 2 } as const;
type Markers = (typeof MARKERS)[keyof typeof MARKERS];

/** What is missing before the next picture; unless it is nothing, that one has to begin with its first slice. */
const GAP = {
  none: 0,
  /** What no frame is to blame for (a session begins in the middle), or what was counted. */
  counted: 1,
  /** Packets that no damaged frame was counted for yet. */
  uncounted: 2,
} as const;
type Gap = (typeof GAP)[keyof typeof GAP];

const isOpen = (phase: Phase): boolean => phase >= PHASE.head;
const hasPicture = (phase: Phase): boolean => phase >= PHASE.picture;
const isSkipping = (phase: Phase): boolean => phase === PHASE.skipping || phase === PHASE.skippingMarked;

/**
 * Decides where access units begin and end, and which are whole. The rules are those of this folder's README
 * ("Where an access unit ends"), by their numbers there.
 *
 *     between, marked ── #open ──► head ── #beginPicture ──► picture, pictureMarked, trial
 *      ▲   ▲    │                   │                         │    │
 *      │   │    └────────────────┬──┴───── #giveUp ───────────┘    │
 *      │   │                     ▼                                 │
 *      │   └─ next unit ─ skipping, skippingMarked                 │
 *      └──────────────────────────────────────────── #commit ──────┘
 */
export class AccessUnit {
  readonly counters: DepacketizerCounters = { damagedFrames: 0, malformedPackets: 0, oversizedFrames: 0 };
  /** Something was lost since the last commit; during a commit it speaks of what came before that frame. */
  damagedSinceLastCommit = false;
  readonly #sink: VideoSink;
  #phase: Phase = PHASE.between;
  #markers: Markers = MARKERS.onTrial;
  /** `none` from the first slice of a picture to its end. */
  #gap: Gap = GAP.counted;
  #packetTimestamp = 0;
  /** Of the access unit that is open, was committed or is being skipped last. */
  #timestamp = 0;
  /** Of the one that is open. */
  #isKey = false;
  #nalCount = 0;

  constructor(sink: VideoSink) {
    this.#sink = sink;
  }

  /**
   * A packet begins, `lostBefore` being missing before it. `timestamp` is signed here, which holds it in a
   * machine word; unsigned ones from 2^31 on would become heap objects, one for each packet.
   */
  startPacket(timestamp: number, lostBefore: number): void {
    this.#packetTimestamp = timestamp;
    if (lostBefore !== 0) this.#lose();
  }

  /** A NAL unit begins: ends the access unit before it if that is over. False: the unit isn't wanted. */
  admit(role: NalRole, isKey: boolean): boolean {
    if (role <= ROLE.dropped) return false;
    this.#settleBoundary(role);
    if (!isOpen(this.#phase) && !this.#open(role)) return false;
    // Rule 3: before the first slice the newest timestamp counts.
    if (this.#phase === PHASE.head) this.#timestamp = this.#packetTimestamp;
    if (isSlice(role)) {
      if (this.#phase === PHASE.head && !this.#beginPicture(role)) return false;
      if (isKey) this.#isKey = true;
    }
    this.#nalCount += 1;
    if (this.#nalCount <= MAX_NALS_PER_ACCESS_UNIT) return true;
    this.#outgrow();
    return false;
  }

  /** The unit that was just admitted. What comes of it after its access unit was given up goes nowhere. */
  beginNal(): void {
    this.#sink.beginNal();
  }

  append(buffer: Buffer, start: number, end: number): void {
    if (isOpen(this.#phase) && !this.#sink.append(buffer, start, end)) this.#outgrow();
  }

  endNal(): void {
    if (isOpen(this.#phase)) this.#sink.endNal();
  }

  /** Data of a slice whose beginning never came. */
  headless(): void {
    if (isSkipping(this.#phase)) return;
    if (this.#gap === GAP.none) this.malformed();
    this.damage();
  }

  /** A packet says what the payload format doesn't allow. */
  malformed(): void {
    this.counters.malformedPackets += 1;
  }

  /** Part of the access unit that the current packet belongs to is missing or broken: it is given up. */
  damage(): void {
    if (isSkipping(this.#phase)) return;
    if (hasPicture(this.#phase) && this.#isNewTime()) this.#commit(PHASE.between);
    this.#giveUpDamaged(this.#packetTimestamp);
  }

  /** The packet is over. Rule 4: a marker inside an unfinished NAL unit means nothing. */
  endPacket(marker: boolean, isFragmentOpen: boolean): void {
    if (!marker || isFragmentOpen) return;
    // Rule 1: a marker ends nothing that has no picture yet.
    if (this.#phase === PHASE.picture) this.#markPicture();
    else if (isSkipping(this.#phase)) this.#markSkipped();
  }

  reset(): void {
    if (isOpen(this.#phase)) this.#sink.abort();
    this.#phase = PHASE.between;
    this.#markers = MARKERS.onTrial;
    this.#gap = GAP.counted;
    this.damagedSinceLastCommit = false;
  }

  /** Rule 5: packets are missing before this one. */
  #lose(): void {
    // The marker of the last one stands: what is missing is no part of it.
    if (this.#phase === PHASE.trial && this.#isNewTime()) this.#commit(PHASE.between);
    this.#gap = GAP.uncounted;
    if (hasPicture(this.#phase)) {
      this.#giveUpDamaged(this.#timestamp);
    } else if (this.#phase === PHASE.head) {
      // There may be no picture behind it: the next one is to blame.
      this.#sink.abort();
      this.#phase = PHASE.between;
    } else if (this.#phase === PHASE.marked) {
      // What comes next tells nothing of that marker.
      this.#phase = PHASE.between;
    }
    this.damagedSinceLastCommit = true;
  }

  /** Ends what ends before a unit of this role. */
  #settleBoundary(role: NalRole): void {
    if (this.#phase === PHASE.trial) this.#judgeMarker(role);
    else if (!this.#isNext(role)) return;
    else if (hasPicture(this.#phase)) this.#commit(PHASE.between);
    else if (isSkipping(this.#phase)) this.#phase = PHASE.between;
  }

  /** Rules 1 and 3: a unit that isn't part of the picture that came, or is being skipped. */
  #isNext(role: NalRole): boolean {
    if (this.#isNewTime()) return isHead(role);
    // Where each slice is marked and the timestamp never changes, the first slice is all there is to go by.
    const isMarked = this.#phase === PHASE.pictureMarked || this.#phase === PHASE.skippingMarked;
    return isMarked && role === ROLE.firstSlice;
  }

  /** Rule 2: what follows the first marker proves it right, or wrong. */
  #judgeMarker(role: NalRole): void {
    if (role === ROLE.slice && !this.#isNewTime()) {
      this.#markers = MARKERS.distrusted;
      this.#phase = PHASE.pictureMarked;
    } else if (isHead(role) || role === ROLE.slice) {
      this.#markers = MARKERS.trusted;
      this.#commit(PHASE.between);
    }
  }

  #open(role: NalRole): boolean {
    if (isSkipping(this.#phase) || role === ROLE.suffix) return false;
    if (this.#phase === PHASE.marked && role === ROLE.slice && !this.#isNewTime()) {
      // Rule 2: a marker on every slice. That commit was too early, and no marker is believed again.
      this.#markers = MARKERS.distrusted;
      this.#giveUpDamaged(this.#timestamp);
      return false;
    }
    this.#phase = PHASE.head;
    this.#isKey = false;
    this.#nalCount = 0;
    return true;
  }

  /** Rules 5 and 6: behind a gap only the first slice begins a picture. */
  #beginPicture(role: NalRole): boolean {
    if (this.#gap !== GAP.none && role !== ROLE.firstSlice) {
      this.#giveUpDamaged(this.#timestamp);
      return false;
    }
    this.#gap = GAP.none;
    this.#phase = PHASE.picture;
    return true;
  }

  /** Rules 1 and 2: a marker behind a picture. */
  #markPicture(): void {
    if (this.#markers === MARKERS.trusted) this.#commit(PHASE.marked);
    else this.#phase = this.#markers === MARKERS.onTrial ? PHASE.trial : PHASE.pictureMarked;
  }

  /** A marker behind what is skipped, one of many perhaps: the next picture has to prove that it is a new one. */
  #markSkipped(): void {
    this.#phase = this.#markers === MARKERS.distrusted ? PHASE.skippingMarked : PHASE.between;
    if (this.#gap === GAP.none) this.#gap = GAP.counted;
  }

  /** Gives up the access unit of `timestamp`, and counts it unless what it lacks was counted before. */
  #giveUpDamaged(timestamp: number): void {
    this.#giveUp(timestamp);
    if (this.#gap === GAP.counted) return;
    if (this.#gap === GAP.uncounted) this.#gap = GAP.counted;
    this.counters.damagedFrames += 1;
    this.damagedSinceLastCommit = true;
  }

  /** Rule 7. */
  #outgrow(): void {
    this.#giveUp(this.#timestamp);
    if (this.#gap === GAP.uncounted) this.#gap = GAP.counted;
    this.counters.oversizedFrames += 1;
    this.damagedSinceLastCommit = true;
  }

  /** Drops what came of the access unit of `timestamp`, and what is still to come of it. */
  #giveUp(timestamp: number): void {
    if (isOpen(this.#phase)) this.#sink.abort();
    this.#phase = PHASE.skipping;
    this.#timestamp = timestamp;
  }

  #commit(next: typeof PHASE.between | typeof PHASE.marked): void {
    this.#sink.commit(this.#timestamp >>> 0, this.#isKey);
    this.damagedSinceLastCommit = false;
    this.#phase = next;
  }

  #isNewTime(): boolean {
    return this.#packetTimestamp !== this.#timestamp;
  }
}
