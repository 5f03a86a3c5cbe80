import type { SeenObject } from '../objects/seen-object.js';
import type { ScheduledHours } from './schedule.js';

type Point = readonly [x: number, y: number];

/** A part of the picture, by its corners as fractions of it. */
export type Zone = {
  readonly name: string;
  readonly kind: 'include' | 'exclude';
  readonly points: readonly Point[];
};

/** Which detections of a camera count; what isn't there is as the model has it. */
export type DetectionRules = {
  readonly labels?: readonly string[] | undefined;
  readonly min_score?: number | undefined;
  /** Of the picture's area. */
  readonly min_size?: number | undefined;
  readonly zones?: readonly Zone[] | undefined;
  /** When it counts; where none is there always. */
  readonly schedule?: readonly ScheduledHours[] | undefined;
};

/** An object that counts, and the zone in which it stands; "" where there is none. */
export type CountedObject = SeenObject & { readonly zone: string };

/** Whether a ray from the point to the right crosses the outline an odd number of times. */
const isInside = ([x, y]: Point, points: readonly Point[]): boolean => {
  let isIn = false;
  let [beforeX, beforeY] = points.at(-1) ?? [0, 0];
  for (const [cornerX, cornerY] of points) {
    const crosses = cornerY > y !== beforeY > y;
    if (crosses && x < ((beforeX - cornerX) * (y - cornerY)) / (beforeY - cornerY) + cornerX) isIn = !isIn;
    [beforeX, beforeY] = [cornerX, cornerY];
  }
  return isIn;
};

/** What stands on the picture's very edge is in the zones that reach it. */
const EDGE = 0.999;

/** Where it stands on the ground. */
const footOf = ({ box: [x, y, width, height] }: SeenObject): Point => [
  Math.min(x + width / 2, EDGE),
  Math.min(y + height, EDGE),
];

/** The objects that count by a camera's rules. */
export const whatCounts = (objects: readonly SeenObject[], rules: DetectionRules): CountedObject[] => {
  const { labels = [], min_score: minScore = 0, min_size: minSize = 0, zones = [] } = rules;
  const included = zones.filter(({ kind }) => kind === 'include');
  const excluded = zones.filter(({ kind }) => kind === 'exclude');
  return objects.flatMap((object) => {
    const { label, score, box } = object;
    if (score < minScore || box[2] * box[3] < minSize) return [];
    if (labels.length > 0 && !labels.includes(label)) return [];
    const foot = footOf(object);
    if (excluded.some(({ points }) => isInside(foot, points))) return [];
    const zone = included.find(({ points }) => isInside(foot, points));
    if (zone === undefined && included.length > 0) return [];
    return { ...object, zone: zone?.name ?? '' };
  });
};
