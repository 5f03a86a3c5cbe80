/** Something that was detected in a picture, at a place from its top left, in fractions of it. */
export type SeenObject = {
  readonly label: string;
  readonly score: number;
  readonly box: readonly [x: number, y: number, width: number, height: number];
};

/** What was detected in the picture of that moment of the service's clock. */
export type Seen = { readonly atMs: number; readonly objects: readonly SeenObject[] };

/** What moves is elsewhere by then. */
const SHOWN_MS = 2_000;
const LEAST_MS = 500;

/** For how long what is told now is shown; 0: it is too old, or of a picture that isn't on the screen yet. */
export const shownForMs = (atMs: number, serverNowMs: number | null): number => {
  const ageMs = serverNowMs === null ? 0 : Math.max(0, serverNowMs - atMs);
  return ageMs > SHOWN_MS ? 0 : Math.max(LEAST_MS, SHOWN_MS - ageMs);
};

export const isVehicle = (label: string): boolean => /car|truck|bus|vehicle|bicycle|motor/.test(label);
