type Numbers = Uint32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;

/** Numbers that are added one by one: plain fields, so that they can move between threads. */
export type GrowingColumn<Values extends Numbers = Uint32Array<ArrayBuffer>> = {
  values: Values;
  count: number;
};

const FIRST_CAPACITY = 64;
const GROWTH = 1.5;

export const growingU32 = (): GrowingColumn => ({ values: new Uint32Array(FIRST_CAPACITY), count: 0 });

export const growingF64 = (): GrowingColumn<Float64Array<ArrayBuffer>> => ({
  values: new Float64Array(FIRST_CAPACITY),
  count: 0,
});

export const append = (column: GrowingColumn<Numbers>, value: number): void => {
  const { values, count } = column;
  if (count === values.length) {
    const capacity = Math.ceil(count * GROWTH);
    const grown = values instanceof Uint32Array ? new Uint32Array(capacity) : new Float64Array(capacity);
    grown.set(values);
    column.values = grown;
  }
  column.values[count] = value;
  column.count = count + 1;
};

/** Adds to runs of equal values: count and value in turn. Values are 32 bits, signed ones as they are in a file. */
export const appendToRuns = (runs: GrowingColumn, value: number): void => {
  const { values, count } = runs;
  if (count > 0 && values[count - 1] === value >>> 0) {
    values[count - 2]! += 1;
    return;
  }
  append(runs, 1);
  append(runs, value);
};
