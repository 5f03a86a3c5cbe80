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

/** When the newest video frame of a ring is shown and when it came, by whichever writer; null before the first. */
export const lastVideoFrameOf = (
  ring: SharedArrayBuffer,
): { readonly ptsTicks: number; readonly arrivalMs: number } | null => {
  const { videoFrames, lastVideoPtsTicks, lastVideoArrivalMs } = readCounters(ring);
  return videoFrames === 0 ? null : { ptsTicks: lastVideoPtsTicks, arrivalMs: lastVideoArrivalMs };
};

/** All counters of a ring where they lie, for whoever looks at one of them often. */
export const countersIn = (ring: SharedArrayBuffer): Float64Array => new RingMemory(ring).counters;

/** All counters of a ring as they are now, from any thread, without a message. */
export const readCounters = (ring: SharedArrayBuffer): RingCounters => {
  const { counters } = new RingMemory(ring);
  return Object.fromEntries(counterNames.map((name, index) => [name, counters[index]])) as RingCounters;
};
