/**
 * When a frame is shown and came, and what it is. Whoever writes frames keeps one and fills it in for each: the ring
 * keeps nothing of it, and no frame costs an allocation.
 */
export class FrameStamp {
  // Not 0: V8 would take the times for small integers, and make the record over with the first that isn't one.
  ptsTicks = Number.NaN;
  /** Of video alone: sound is decoded in the order in which it is heard. */
  dtsTicks = Number.NaN;
  wallMs = Number.NaN;
  arrivalMs = Number.NaN;
  /** Bits of `frameFlag`. */
  flags = 0;
}
