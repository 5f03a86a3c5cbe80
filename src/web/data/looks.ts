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
