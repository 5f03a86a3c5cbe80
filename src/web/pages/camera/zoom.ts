const MAX_FACTOR = 16;

/** How much larger than whole, and where the picture's upper left corner lies; in pixels of the frame around it. */
export type Zoom = { readonly factor: number; readonly x: number; readonly y: number };
export type Size = { readonly width: number; readonly height: number };

export const WHOLE: Zoom = { factor: 1, x: 0, y: 0 };

const clamp = (value: number, least: number, most: number): number => Math.min(most, Math.max(least, value));

/** Nothing but picture is in the frame. */
const within = ({ factor, x, y }: Zoom, { width, height }: Size): Zoom => ({
  factor,
  x: clamp(x, width * (1 - factor), 0),
  y: clamp(y, height * (1 - factor), 0),
});

/** What lies under the point stays under it. */
export const zoomedAt = (
  zoom: Zoom,
  by: number,
  at: { readonly x: number; readonly y: number },
  size: Size,
): Zoom => {
  const factor = clamp(zoom.factor * by, 1, MAX_FACTOR);
  const ratio = factor / zoom.factor;
  return within({ factor, x: at.x - (at.x - zoom.x) * ratio, y: at.y - (at.y - zoom.y) * ratio }, size);
};

export const moved = (zoom: Zoom, dx: number, dy: number, size: Size): Zoom =>
  within({ ...zoom, x: zoom.x + dx, y: zoom.y + dy }, size);
