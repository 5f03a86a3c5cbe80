import { RingMemory } from './layout.js';

/**
 * The counters in a ring's header, in the order in which they lie there. The writer keeps those of the first
 * group; the owner of the session sets the others. Times are milliseconds, 0 before the first.
 */
export const counterNames = [
  // By the writer.
  'videoFrames',
  'audioFrames',
  'keyFrames',
  'videoBytes',
  'audioBytes',
  'discontinuities',
  'audioFramesDropped',
  'replacements',
  'lastVideoArrivalMs',
  'lastVideoPtsTicks',
  'furthestPtsMs',
  'lastKeyArrivalMs',
  'gopBytes',
  'gopFrames',
  'gopDurationMs',
  'wantedBytes',
  'cutGops',
  // By the owner of the session.
  'receivedBytes',
  'packets',
  'packetsLost',
  'packetsLate',
  'packetsDuplicate',
  'packetsForeign',
  'malformedPackets',
  'damagedFrames',
  'oversizedFrames',
  'rtpJumps',
  'wallSteps',
  'undecodableFrames',
  'garbageBytes',
  'unsentPackets',
  'metadataDocuments',
  'metadataRefused',
  'metadataObjects',
] as const;

export type RingCounter = (typeof counterNames)[number];
export type RingCounters = Readonly<Record<RingCounter, number>>;

/** Where each counter lies. */
export const counterIndex: Readonly<Record<RingCounter, number>> = Object.freeze(
  Object.fromEntries(counterNames.map((name, index) => [name, index])) as Record<RingCounter, number>,
);

/** When a ring's newest video frame is shown, and when it came; the furthest that any frame, sound too, is shown. */
export type LastFrames = {
  readonly ptsTicks: number;
  readonly arrivalMs: number;
  readonly furthestMs: number;
};

/** By whichever writer; null before the first video frame. */
export const lastFramesOf = (ring: SharedArrayBuffer): LastFrames | null => {
  const { videoFrames, lastVideoPtsTicks, lastVideoArrivalMs, furthestPtsMs } = readCounters(ring);
  if (videoFrames === 0) return null;
  return { ptsTicks: lastVideoPtsTicks, arrivalMs: lastVideoArrivalMs, furthestMs: furthestPtsMs };
};

/** All counters of a ring where they lie, for whoever looks at one of them often. */
export const countersIn = (ring: SharedArrayBuffer): Float64Array => new RingMemory(ring).counters;

/** All counters of a ring as they are now, from any thread, without a message. */
export const readCounters = (ring: SharedArrayBuffer): RingCounters => {
  const { counters } = new RingMemory(ring);
  return Object.fromEntries(counterNames.map((name, index) => [name, counters[index]])) as RingCounters;
};
