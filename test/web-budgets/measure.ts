import type { Row } from './figures.js';

/** What is measured under one name. */
export type Measure = {
  readonly name: string;
  readonly about: string;
  /** How long it looks where nothing else is said; how often it tries where it tries. */
  readonly seconds: number;
  run(seconds: number): Promise<readonly Row[]>;
};
