export type CameraFact = {
  readonly camera: string;
  /** When what is on the screen was seen; null: nothing is shown. */
  readonly shownMs: number | null;
  /** Its width to its height; 0: not known. */
  readonly ratio: number;
  readonly isLoading: boolean;
  readonly fault: string | null;
  /** Why nothing comes for now, while it is asked for again; null: it comes. */
  readonly retrying: string | null;
  /** Pictures that were drawn since it was added. */
  readonly drawn: number;
};

const isSame = (a: CameraFact, b: CameraFact): boolean =>
  (Object.keys(a) as (keyof CameraFact)[]).every((name) => a[name] === b[name]);

/** Facts by camera; one that says nothing new is the same object as before, so that its tile isn't drawn anew. */
export const factsOf = (
  before: ReadonlyMap<string, CameraFact>,
  told: readonly CameraFact[],
): ReadonlyMap<string, CameraFact> =>
  new Map(
    told.map((fact) => {
      const known = before.get(fact.camera);
      return [fact.camera, known !== undefined && isSame(fact, known) ? known : fact];
    }),
  );
