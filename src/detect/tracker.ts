import { overlapOf } from '../objects/box-overlap.js';
import type { Box } from '../objects/seen-object.js';
import { Place } from './place.js';
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
  /** Where it stays, or was on its way. */
  place: Place;
  /** It stands there for so long that nothing happens any more. */
  isStanding: boolean;
};

/** What a picture did to the tracks of a camera. */
export type Step = {
  readonly begun: readonly Track[];
  /** Those that were there before and are seen still, but for what stood before. */
  readonly seen: readonly Track[];
  /** Those of them that have stood for long enough now. */
  readonly stood: readonly Track[];
};

type StepInMaking = { readonly [Tracks in keyof Step]: Track[] };

/** Somebody who isn't seen for so long is gone. */
export const GONE_AFTER_MS = 10_000;
/** What stays in its place for so long stands. */
const STANDING_MS = 60_000;
/** What stood and isn't seen any more is remembered for as long as it stood, at most so long. */
export const REMEMBERED_MS = 600_000;
/** Of those that move, and of those that stand: a car park is to hide nobody. */
const MAX_TRACKS = 64;
const MAX_STANDING = 256;
/** Pictures come once a second: what moves may not overlap with where it was, but is near and as large. */
const NEAR_SIDES = 1.5;
const MAX_GROWTH = 2.5;

const middle = ([x, y, width, height]: Box): readonly [number, number] => [x + width / 2, y + height / 2];

/** What has another name now must be where it was. */
const LEAST_RENAMED_OVERLAP = 0.5;
/** A model isn't sure whether it is a car or a truck that stands there, but it is as large. */
const LEAST_RELABELLED_OVERLAP = 0.7;
const NAMED = 3;
/** What fits anything else better is that. */
const FAINT = 0.01;

/** The names that objects of a picture have, and when that was taken. */
type Picture = { readonly names: ReadonlySet<string>; readonly wallMs: number };

/**
 * How well an object fits a track: above 3 by name, above 1 by overlap, below that by nearness; 0: not at all. Cameras lose an
 * object at times and call it otherwise then, some each time: `names` has those that are still called as they were.
 */
const fitOf = (track: Track, object: CountedObject, picture: Picture): number => {
  const fit = track.isStanding ? standingFitOf(track, object, picture) : null;
  if (fit !== null) return fit;
  const { label, box, trackId = '' } = object;
  if (track.label !== label) return 0;
  if (trackId === '' || track.trackId === '') return likeness(track.box, box);
  if (trackId === track.trackId) return NAMED + overlapOf(track.box, box);
  if (picture.names.has(track.trackId)) return 0;
  const overlap = overlapOf(track.box, box);
  return overlap >= LEAST_RENAMED_OVERLAP ? overlap : 0;
};

/**
 * What is where something stands is that, unless it is known to be something else. What is beside it may be that, too, on its
 * way (null); but if that wasn't seen for a while nobody can say so.
 */
const standingFitOf = (track: Track, object: CountedObject, { names, wallMs }: Picture): number | null => {
  const { label, box, trackId = '' } = object;
  if (trackId !== track.trackId && track.trackId !== '' && names.has(track.trackId)) return 0;
  const isSeen = wallMs - track.lastMs <= GONE_AFTER_MS;
  if (label !== track.label) return track.place.holds(box, LEAST_RELABELLED_OVERLAP) * FAINT;
  const overlap = track.place.holds(box);
  const isNamed = trackId !== '' && trackId === track.trackId;
  if (overlap > 0) return isSeen ? (isNamed ? NAMED : 1) + overlap : overlap * FAINT;
  return isSeen ? null : 0;
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

/** What is seen of an object now. */
const seeTrack = (track: Track, object: CountedObject, wallMs: number): void => {
  track.box = object.box;
  if (object.trackId) track.trackId = object.trackId;
  track.lastMs = Math.max(track.lastMs, wallMs);
  track.hits += 1;
  track.bestScore = Math.max(track.bestScore, object.score);
  if (track.zone === '') track.zone = object.zone;
};

const trackOf = ({ label, box, score, zone, trackId = '' }: CountedObject, wallMs: number): Track => ({
  ...{ label, trackId, box, zone, bestScore: score, hits: 1, isStanding: false },
  ...{ firstMs: wallMs, lastMs: wallMs, place: new Place(box, wallMs) },
});

/**
 * Tells the objects of one camera apart, from picture to picture: the same label, and the name that the camera has for it,
 * else about where it was. What stands is known by its place.
 */
export class Tracker {
  #tracks: Track[] = [];

  /** The pairs that fit best first; what fits none is new. */
  update(wallMs: number, objects: readonly CountedObject[]): Step {
    const picture = { names: new Set(objects.map(({ trackId = '' }) => trackId)), wallMs };
    const pairs = objects
      .flatMap((object) =>
        this.#tracks.map((track) => ({ object, track, fit: fitOf(track, object, picture) })),
      )
      .filter(({ fit }) => fit > 0)
      .sort((a, b) => b.fit - a.fit);
    const taken = new Set<CountedObject | Track>();
    const step = { begun: [] as Track[], seen: [] as Track[], stood: [] as Track[] };
    for (const { object, track } of pairs) {
      if (taken.has(object) || taken.has(track)) continue;
      taken.add(object).add(track);
      seeTrack(track, object, wallMs);
      this.#follow(track, object, wallMs, step);
    }
    for (const object of objects) {
      if (taken.has(object) || this.#count(false) >= MAX_TRACKS) continue;
      const track = trackOf(object, wallMs);
      this.#tracks.push(track);
      step.begun.push(track);
    }
    return step;
  }

  /** Lets go of those that were not seen for long. Those are gone that didn't stand. */
  expire(wallMs: number): readonly Track[] {
    const gone = this.#tracks.filter(({ isStanding, lastMs, place }) => {
      const stoodMs = isStanding ? Math.min(lastMs - place.sinceMs, REMEMBERED_MS) : 0;
      return lastMs < wallMs - Math.max(GONE_AFTER_MS, stoodMs);
    });
    return this.#remove(gone);
  }

  /** Lets go of all that didn't stand. */
  end(): readonly Track[] {
    return this.#remove(this.#tracks.filter(({ isStanding }) => !isStanding));
  }

  #remove(gone: readonly Track[]): readonly Track[] {
    if (gone.length > 0) this.#tracks = this.#tracks.filter((track) => !gone.includes(track));
    return gone.filter(({ isStanding }) => !isStanding);
  }

  /** Whether it stays where it is, and what that makes of it. */
  #follow(track: Track, object: CountedObject, wallMs: number, { begun, seen, stood }: StepInMaking): void {
    const leaving = track.place.see(track.box, wallMs);
    if (leaving !== null) track.place = new Place(track.box, wallMs);
    if (leaving !== null && track.isStanding) {
      // What begins now is another passage.
      const moving = { ...trackOf(object, leaving.sinceMs), lastMs: wallMs, hits: leaving.pictures };
      this.#tracks[this.#tracks.indexOf(track)] = moving;
      begun.push(moving);
    }
    if (track.isStanding) return;
    seen.push(track);
    if (wallMs - track.place.sinceMs < STANDING_MS) return;
    track.isStanding = true;
    stood.push(track);
    if (this.#count(true) > MAX_STANDING) this.#forgetStanding();
  }

  #count(isStanding: boolean): number {
    return this.#tracks.reduce((count, track) => count + Number(track.isStanding === isStanding), 0);
  }

  /** The one that was not seen for longest. */
  #forgetStanding(): void {
    const standing = this.#tracks.filter((track) => track.isStanding);
    this.#remove(standing.toSorted((a, b) => a.lastMs - b.lastMs).slice(0, 1));
  }
}
