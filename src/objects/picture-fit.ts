import type { Box } from './seen-object.js';

export type Size = { readonly width: number; readonly height: number };

/** What each colour has where no picture lies: the grey that networks were taught with. */
export const PADDING = 0x72;

/** The part of a model's input that a picture fills, from top left: as large as it fits without being bent. */
export const fitInto = (picture: Size, input: Size): Size => {
  const scale = Math.min(input.width / picture.width, input.height / picture.height);
  const side = (length: number, most: number): number =>
    Math.min(Math.max(Math.round(length * scale), 1), most);
  return { width: side(picture.width, input.width), height: side(picture.height, input.height) };
};

/** A box in pixels of the input, by its corners, as fractions of the picture; null: it is empty, or beside the picture. */
export const toPicture = (
  corners: readonly [left: number, top: number, right: number, bottom: number],
  fit: Size,
): Box | null => {
  const inside = (value: number, most: number): number => Math.min(Math.max(value / most, 0), 1);
  const [left, top] = [inside(corners[0], fit.width), inside(corners[1], fit.height)];
  const width = inside(corners[2], fit.width) - left;
  const height = inside(corners[3], fit.height) - top;
  return width > 0 && height > 0 ? [left, top, width, height] : null;
};
