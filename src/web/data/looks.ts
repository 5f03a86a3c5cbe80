export type Change = readonly [id: string, set: object];

type Look = { readonly number: number };

/** Changes in their order; true: one is of something that isn't known. */
export const applyChanges = <Row extends object>(
  rows: Map<string, Row>,
  changes: Iterable<Change>,
): boolean => {
  let isAnyNew = false;
  for (const [id, set] of changes) {
    const known = rows.get(id);
    if ('deleted' in set) rows.delete(id);
    else if (known === undefined) isAnyNew = true;
    else rows.set(id, { ...known, ...set });
  }
  return isAnyNew;
};

/** Adds a change to those that wait: of one thing they are one, but what is made again after its end is another one. */
export const addChange = (waiting: Map<string, readonly object[]>, [id, set]: Change): void => {
  const last = waiting.get(id)?.at(-1);
  if (last === undefined || 'deleted' in set) waiting.set(id, [set]);
  else if ('deleted' in last) waiting.set(id, [last, set]);
  else waiting.set(id, [...(waiting.get(id) ?? []).slice(0, -1), { ...last, ...set }]);
};

/** Does one at a time; all who ask meanwhile share the one behind it. */
export const oneAtATime = (look: () => Promise<void>): (() => Promise<void>) => {
  let underWay: Promise<void> | null = null;
  let behind: Promise<void> | null = null;
  const begin = (): Promise<void> => {
    underWay = look().finally(() => {
      underWay = null;
    });
    return underWay;
  };
  const next = (): Promise<void> => {
    behind = null;
    return underWay ?? begin();
  };
  return () => {
    if (underWay === null) return begin();
    behind ??= underWay.then(next, next);
    return behind;
  };
};

/** Answers that come late: none undoes what a later one said, or what was told since it was asked for. */
export class Looks {
  #begun = 0;
  #answered = 0;
  #underWay = 0;
  #told: { readonly begun: number; readonly change: Change }[] = [];

  begin(): Look {
    this.#begun += 1;
    this.#underWay += 1;
    return { number: this.#begun };
  }

  /** Null: a later one was answered before. Else what was told meanwhile, which the answer may not know. */
  answered({ number }: Look): readonly Change[] | null {
    if (number < this.#answered) return null;
    this.#answered = number;
    return this.#told.filter(({ begun }) => begun >= number).map(({ change }) => change);
  }

  /** Whatever came of it. */
  end(): void {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#told = [];
  }

  tell(change: Change): void {
    if (this.#underWay > 0) this.#told.push({ begun: this.#begun, change });
  }

  /** What is under way was asked for by somebody else. */
  forget(): void {
    this.#begun += 1;
    this.#answered = this.#begun;
  }
}
