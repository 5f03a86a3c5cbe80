const COUNTED_MS = 3_000;
const MEAN_OF = 8;

/** What is told of the pictures that were looked at. */
export type ModelFigures = {
  /** Of the last ones, in the middle of them. */
  readonly tookMs: number;
  readonly perSecond: number;
  /** Of the picture when its boxes were drawn; null: it isn't known when it was taken. */
  readonly ageMs: number | null;
};

/** How fast pictures are looked at. */
export class Rate {
  readonly #answers: { readonly atMs: number; readonly tookMs: number }[] = [];

  note(atMs: number, tookMs: number, ageMs: number | null): ModelFigures {
    const answers = this.#answers;
    answers.push({ atMs, tookMs });
    while (answers.length > 2 && (answers[0]?.atMs ?? atMs) < atMs - COUNTED_MS) answers.shift();
    const sinceMs = atMs - (answers[0]?.atMs ?? atMs);
    const last = answers.slice(-MEAN_OF);
    return {
      tookMs: last.reduce((sum, each) => sum + each.tookMs, 0) / last.length,
      perSecond: sinceMs > 0 ? ((answers.length - 1) * 1_000) / sinceMs : 0,
      ageMs,
    };
  }
}
