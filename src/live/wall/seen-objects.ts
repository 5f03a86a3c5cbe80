/** What was detected in one picture of a camera; nothing, too. */
export type SeenObjects = {
  /** When the service saw that picture. */
  readonly wallMs: number;
  readonly objects: readonly {
    readonly label: string;
    readonly score: number;
    /** From top left, as fractions of the picture. */
    readonly box: readonly [x: number, y: number, width: number, height: number];
  }[];
};

/** More in one picture nobody tells apart. */
const MAX_OBJECTS = 64;
/** A label comes from a foreign model. */
const MAX_LABEL = 64;

const rounded = (value: number): number => Math.round(value * 10_000) / 10_000;

/** The message that tells a page of it: the most certain ones. */
export const seenText = (camera: string, { wallMs, objects }: SeenObjects): string =>
  JSON.stringify({
    ...{ op: 'detections', camera, at_ms: Math.round(wallMs) },
    objects: objects
      .toSorted((a, b) => b.score - a.score)
      .slice(0, MAX_OBJECTS)
      .map(({ label, score, box }) => ({
        label: label.slice(0, MAX_LABEL),
        score: rounded(score),
        box: box.map(rounded),
      })),
  });
