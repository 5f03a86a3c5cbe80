import { overlapOf } from './box-overlap.js';
import type { Box } from './messages.js';
import type { CountedObject } from './what-counts.js';

/** An object over time. */
export type Track = {
  readonly label: string;
  /** What the camera calls it; "" where it doesn't say. */
  trackId: string;
  /** Where it is now. */
  box: Box;
  readonly firstMs: number;
  lastMs: number;
  /** Pictures in which it was seen. */
  hits: number;
  bestScore: number;
  /** The first zone that it stood in; "" for none. */
  zone: string;
};

/** What a picture did to the tracks of a camera. */
export type Step = {
  readonly begun: readonly Track[];
  /** Those that were there before and are seen still. */
  readonly seen: readonly Track[];
};

/** Somebody who isn't seen for so long is gone. */
export const GONE_AFTER_MS = 10_000;
const MAX_TRACKS = 64;
/** Pictures come once a second: what moves may not overlap with where it was, but is near and as large. */
const NEAR_SIDES = 1.5;
const MAX_GROWTH = 2.5;

const middle = ([x, y, width, height]: Box): readonly [number, number] => [x + width / 2, y + height / 2];

/** What has another name now must be where it was. */
const LEAST_RENAMED_OVERLAP = 0.5;

/**
 * How well an object fits a track: 3 by name, above 1 by overlap, below that by nearness; 0: not at all. Cameras lose an
 * object at times and call it otherwise then, some each time: `isNamed` are those that are still called as they were.
 */
const fitOf = (
  track: Track,
  { label, box, trackId = '' }: CountedObject,
  isNamed: ReadonlySet<string>,
): number => {
  if (track.label !== label) return 0;
  if (trackId === '' || track.trackId === '') return likeness(track.box, box);
  if (trackId === track.trackId) return 3;
  if (isNamed.has(track.trackId)) return 0;
  const overlap = overlapOf(track.box, box);
  return overlap >= LEAST_RENAMED_OVERLAP ? overlap : 0;
};

const likeness = (before: Box, now: Box): number => {
  const overlap = overlapOf(before, now);
  if (overlap > 0) return 1 + overlap;
  const growth = (now[2] * now[3]) / (before[2] * before[3]);
  if (growth > MAX_GROWTH || growth < 1 / MAX_GROWTH) return 0;
  const [fromX, fromY] = middle(before);
  const [toX, toY] = middle(now);
  const sides = Math.max(Math.abs(toX - fromX) / before[2], Math.abs(toY - fromY) / before[3]);
  return sides < NEAR_SIDES ? 1 - sides / NEAR_SIDES : 0;
};

/**
 * Tells the objects of one camera apart, from picture to picture: the same label, and the name that the camera has for it,
 * else about where it was.
 */
export class Tracker {
  #tracks: Track[] = [];

  /** The pairs that fit best first; what fits none is new. */
  update(wallMs: number, objects: readonly CountedObject[]): Step {
    const isNamed = new Set(objects.map(({ trackId = '' }) => trackId));
    const pairs = objects
      .flatMap((object) =>
        this.#tracks.map((track) => ({ object, track, fit: fitOf(track, object, isNamed) })),
      )
      .filter(({ fit }) => fit > 0)
      .sort((a, b) => b.fit - a.fit);
    const taken = new Set<CountedObject | Track>();
    const seen: Track[] = [];
    for (const { object, track } of pairs) {
      if (taken.has(object) || taken.has(track)) continue;
      taken.add(object).add(track);
      track.box = object.box;
      if (object.trackId) track.trackId = object.trackId;
      track.lastMs = Math.max(track.lastMs, wallMs);
      track.hits += 1;
      track.bestScore = Math.max(track.bestScore, object.score);
      if (track.zone === '') track.zone = object.zone;
      seen.push(track);
    }
    const begun: Track[] = [];
    for (const object of objects) {
      if (taken.has(object) || this.#tracks.length >= MAX_TRACKS) continue;
      const { label, box, score, zone, trackId = '' } = object;
      const track = { label, trackId, box, firstMs: wallMs, lastMs: wallMs, hits: 1, bestScore: score, zone };
      this.#tracks.push(track);
      begun.push(track);
    }
    return { begun, seen };
  }

  /** Lets go of those that were not seen since. */
  expire(beforeMs: number): readonly Track[] {
    const gone = this.#tracks.filter(({ lastMs }) => lastMs < beforeMs);
    if (gone.length > 0) this.#tracks = this.#tracks.filter(({ lastMs }) => lastMs >= beforeMs);
    return gone;
  }
}
