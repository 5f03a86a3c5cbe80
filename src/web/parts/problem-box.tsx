import type { Problem } from '../data/problem.js';
import { shellText } from '../text/shell.js';
import { Button } from './button.js';
import styles from './problem-box.module.css';

/** What failed, why in the service's own words, and what can be done. */
export const ProblemBox = ({
  what,
  problem,
  onRetry,
}: {
  readonly what: string;
  readonly problem: Problem;
  readonly onRetry?: () => void;
}) => (
  <div class={styles.box} role="alert">
    <strong>{shellText('failed', { what })}</strong>
    <p>{problem.detail}</p>
    {problem.faults.length === 0 ? null : (
      <ul>
        {problem.faults.map(({ path, message }) => (
          <li key={path + message}>{path === '' ? message : `${path}: ${message}`}</li>
        ))}
      </ul>
    )}
    <p class={styles.foot}>
      {onRetry === undefined ? null : <Button onClick={onRetry}>{shellText('retry')}</Button>}
      {problem.requestId === '' ? null : <small>{shellText('requestId', { id: problem.requestId })}</small>}
    </p>
  </div>
);
