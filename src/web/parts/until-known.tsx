import type { Problem } from '../data/problem.js';
import { ProblemBox } from './problem-box.js';
import { Skeleton } from './states.js';
import styles from './until-known.module.css';

/** In the place of what isn't known yet: why it isn't, if so, and a way to ask again. */
export const UntilKnown = ({
  what,
  problem,
  onRetry,
}: {
  readonly what: string;
  readonly problem: Problem | null;
  readonly onRetry: () => unknown;
}) => (
  <div class={styles.room}>
    {problem === null ? (
      <Skeleton />
    ) : (
      <ProblemBox what={what} problem={problem} onRetry={() => void onRetry()} />
    )}
  </div>
);
