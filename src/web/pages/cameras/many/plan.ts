import type { Item } from './items.js';
import type { TestSource, TestState } from './test-queue.js';

/** A line as it stands: `wrong` it can't be saved, `known` it is there, `good` and `failed` it was tested. */
export type LineState = 'wrong' | 'known' | 'untested' | 'testing' | 'good' | 'failed';

export type PlannedLine = {
  readonly item: Item;
  readonly state: LineState;
  /** Whether it is to be saved. */
  readonly isTaken: boolean;
};

export type Plan = {
  readonly lines: readonly PlannedLine[];
  readonly taken: readonly PlannedLine[];
  readonly testable: readonly PlannedLine[];
  readonly tested: number;
  readonly untestedTaken: number;
};

/** An address as it is asked, and as it stands in the line. */
export type Address = { readonly source: string; readonly asked: TestSource };

/** The camera's stream, then the smaller one if there is one. */
export const addressesOf = ({ source, subSource, camera }: Item): readonly [Address, ...Address[]] => {
  const address = (from: string, url: string): Address => ({
    source: from,
    asked: { url, transport: camera.transport ?? 'tcp' },
  });
  const sub = subSource === '' ? [] : [address(subSource, camera.sub_url ?? '')];
  return [address(source, camera.url), ...sub];
};

export const isFailed = (test: TestState | null): boolean => test?.step === 'done' && !test.result.ok;

const stateOf = (item: Item, tests: readonly (TestState | null)[]): LineState => {
  if (item.faults.length > 0) return 'wrong';
  if (tests.some(isFailed)) return 'failed';
  if (tests.every((test) => test?.step === 'done')) return 'good';
  if (tests.some((test) => test !== null)) return 'testing';
  return item.sameAs === '' ? 'untested' : 'known';
};

/** What would be saved: all that has no fault, and wasn't found bad, unless somebody chose otherwise. */
export const planOf = (
  items: readonly Item[],
  testOf: (source: TestSource) => TestState | null,
  chosen: ReadonlyMap<string, boolean>,
): Plan => {
  const lines = items.map((item): PlannedLine => {
    const state = stateOf(
      item,
      addressesOf(item).map(({ asked }) => testOf(asked)),
    );
    // What is being tested is saved as soon as it is known to work.
    const isFit = (state === 'good' || state === 'untested') && item.sameAs === '';
    return { item, state, isTaken: state !== 'wrong' && (chosen.get(item.source) ?? isFit) };
  });
  const testable = lines.filter(({ state, item }) => state !== 'wrong' && item.sameAs === '');
  const taken = lines.filter(({ isTaken }) => isTaken);
  return {
    ...{ lines, taken, testable },
    tested: testable.filter(({ state }) => state === 'good' || state === 'failed').length,
    untestedTaken: taken.filter(({ state }) => state === 'untested' || state === 'testing').length,
  };
};

/** Which line of those that were sent a fault of the service is about: `create[3].url`. */
export const indexOfFault = (path: string): number | null => {
  const match = /^create\[(\d+)\]/.exec(path);
  return match === null ? null : Number(match[1]);
};
