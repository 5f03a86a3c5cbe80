import type { Box } from './metadata.js';
import { all, at, attribute, type Element, number } from './xml-tree.js';

/** Maps a point p to scale * p + translate (ONVIF Analytics §5.2.2). */
export type Transformation = {
  readonly translateX: number;
  readonly translateY: number;
  readonly scaleX: number;
  readonly scaleY: number;
};

/** Coordinates are from -1 to 1, the origin in the picture's middle and y pointing up, where nothing else is said. */
export const asItIs: Transformation = { translateX: 0, translateY: 0, scaleX: 1, scaleY: 1 };

/** What the `Transformation` in an element makes of its coordinates, and `outer` of those. */
export const within = (outer: Transformation, element: Element | undefined): Transformation => {
  const own = at(element, 'Transformation');
  if (own === undefined) return outer;
  const of = (name: string, axis: string, otherwise: number): number =>
    number(attribute(at(own, name), axis)) ?? otherwise;
  return {
    scaleX: outer.scaleX * of('Scale', 'x', 1),
    scaleY: outer.scaleY * of('Scale', 'y', 1),
    translateX: outer.scaleX * of('Translate', 'x', 0) + outer.translateX,
    translateY: outer.scaleY * of('Translate', 'y', 0) + outer.translateY,
  };
};

/** Least and greatest of what is told; null: none of it is a number. */
const spanOf = (texts: readonly string[]): readonly [least: number, greatest: number] | null => {
  const values = texts.map(number).filter((value) => value !== null);
  return values.length < 2 ? null : [Math.min(...values), Math.max(...values)];
};

const clamped = (value: number): number => Math.min(Math.max(value, 0), 1);

const MAX_POINTS = 256;

/** The box of a `Shape` as a part of the picture; null: there is none, or nothing of it is in the picture. */
export const boxOf = (shape: Element | undefined, by: Transformation): Box | null => {
  const told = at(shape, 'BoundingBox');
  const points = all(at(shape, 'Polygon'), 'Point').slice(0, MAX_POINTS);
  const sides = (names: readonly string[], axis: string): readonly string[] =>
    told !== undefined
      ? names.map((name) => attribute(told, name))
      : points.map((point) => attribute(point, axis));
  const across = spanOf(sides(['left', 'right'], 'x'));
  const up = spanOf(sides(['top', 'bottom'], 'y'));
  if (across === null || up === null) return null;
  const xs = across.map((value) => clamped((value * by.scaleX + by.translateX + 1) / 2));
  const ys = up.map((value) => clamped((1 - value * by.scaleY - by.translateY) / 2));
  const [x, y] = [Math.min(...xs), Math.min(...ys)];
  const [width, height] = [Math.max(...xs) - x, Math.max(...ys) - y];
  return width > 0 && height > 0 ? [x, y, width, height] : null;
};
