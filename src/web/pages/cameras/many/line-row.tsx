import { Button } from '../../../parts/button.js';
import { Icon } from '../../../parts/icon.js';
import { lineFaultText, manyText } from '../../../text/add-many.js';
import { testText } from '../../../text/camera-tests.js';
import { shownAddress } from './address.js';
import type { LineFault } from './items.js';
import styles from './many.module.css';
import { isFailed, type PlannedLine } from './plan.js';
import type { TestState } from './test-queue.js';
import { TestResult } from './test-result.js';

export const faultText = ({ code, about }: LineFault): string => {
  const text = lineFaultText as (key: LineFault['code'], values: object) => string;
  return text(code, { about, example: '{11..60}' });
};

export type LineProps = {
  readonly line: PlannedLine;
  /** Of its stream, and of the smaller one if there is one. */
  readonly tests: readonly (TestState | null)[];
  /** What the service said when it was to be saved. */
  readonly refusal: string;
  readonly onTake: (source: string, isTaken: boolean) => void;
  readonly onFix: (line: PlannedLine) => void;
  readonly onRetry: (line: PlannedLine) => void;
};

const Told = ({ line, tests, refusal }: Pick<LineProps, 'line' | 'tests' | 'refusal'>) => {
  const { faults, sameAs } = line.item;
  const wrong = refusal === '' ? faults.map(faultText).join(' ') : refusal;
  if (wrong !== '')
    return (
      <span class={`${styles.told} ${styles.bad}`} title={wrong}>
        <Icon name="fault" />
        <span>{wrong}</span>
      </span>
    );
  const failed = tests.findIndex(isFailed);
  const [main = null, sub = null] = tests;
  const told = tests[failed] ?? main;
  if (told !== null) return <TestResult state={told} isSub={failed === 1} sub={failed < 0 ? sub : null} />;
  return (
    <span class={`${styles.told} ${styles.plain}`}>
      <Icon name={sameAs === '' ? 'help' : 'info'} />
      <span>{sameAs === '' ? manyText('notTested') : manyText('sameAs', { id: sameAs })}</span>
    </span>
  );
};

/** One camera that would be added. */
export const LineRow = (props: LineProps) => {
  const { line, onTake, onFix, onRetry } = props;
  const { item, state, isTaken } = line;
  return (
    <li class={styles.line}>
      <input
        type="checkbox"
        checked={isTaken}
        disabled={state === 'wrong'}
        aria-label={manyText('take', { id: item.camera.id })}
        onChange={(event) => onTake(item.source, event.currentTarget.checked)}
      />
      <span class={styles.who}>
        <strong>{item.camera.id}</strong>
        <small>
          {manyText('line', { line: item.line })} · {shownAddress(item.camera.url)}
        </small>
      </span>
      <Told {...props} />
      <span class={styles.does}>
        {state === 'failed' ||
        (state === 'wrong' && item.faults.some(({ code }) => code === 'bad_address')) ? (
          <Button onClick={() => onFix(line)}>{manyText('fix')}</Button>
        ) : null}
        {state === 'failed' ? (
          <Button icon="refresh" label={testText('retry')} onClick={() => onRetry(line)} />
        ) : null}
      </span>
    </li>
  );
};
