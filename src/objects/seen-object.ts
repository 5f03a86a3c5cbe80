/** From top left, as fractions of the picture. */
export type Box = readonly [x: number, y: number, width: number, height: number];

/** Something that was seen in a picture; `score` is from 0 to 1. */
export type SeenObject = {
  readonly label: string;
  readonly score: number;
  readonly box: Box;
  /** What the camera that saw it calls it from picture to picture; "" or absent where nobody knows. */
  readonly trackId?: string;
};
