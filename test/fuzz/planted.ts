import type { Target } from './target.js';

/** Faults to be found, each behind a row of doors that nobody opens by guessing all at once. */
const behind =
  (word: string, fault: () => void) =>
  (input: Buffer): void => {
    if (input[0] !== word.charCodeAt(0)) return;
    if (input[1] !== word.charCodeAt(1)) return;
    if (input[2] !== word.charCodeAt(2)) return;
    if (input[3] !== word.charCodeAt(3)) return;
    fault();
  };

const thrown = (): void => {
  throw new Error('planted');
};
const endless = (): void => {
  for (;;) if (Date.now() < 0) return;
};
const greedy = (): void => {
  const all: number[][] = [];
  for (;;) all.push(Array(1_000_000).fill(0.5));
};

export const targets: Readonly<Record<string, Target>> = {
  throws: { seeds: ['a'], run: behind('DEEP', thrown) },
  hangs: { seeds: ['HANG'], run: behind('HANG', endless) },
  swells: { seeds: ['MORE'], run: behind('MORE', greedy) },
};
