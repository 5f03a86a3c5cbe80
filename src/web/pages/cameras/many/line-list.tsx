import { useVirtualRows } from '../table/use-virtual-rows.js';
import { type LineProps, LineRow } from './line-row.js';
import styles from './many.module.css';
import type { PlannedLine } from './plan.js';
import { addressesOf } from './plan.js';
import type { TestQueue } from './test-queue.js';

const LINE_PX = 56;
const NARROW_LINE_PX = 112;
const NARROW_BELOW_PX = 560;

/** However many lines there are, only those in sight are drawn. */
export const LineList = ({
  lines,
  queue,
  refusals,
  ...handlers
}: {
  readonly lines: readonly PlannedLine[];
  readonly queue: TestQueue;
  readonly refusals: ReadonlyMap<string, string>;
} & Pick<LineProps, 'onTake' | 'onFix' | 'onRetry'>) => {
  const isNarrow = innerWidth < NARROW_BELOW_PX;
  const rowPx = isNarrow ? NARROW_LINE_PX : LINE_PX;
  const { scroller, first, end } = useVirtualRows(lines.length, rowPx, 0);
  return (
    <div ref={scroller} class={styles.lines}>
      <ul
        class={isNarrow ? styles.narrow : undefined}
        style={{ height: `${lines.length * rowPx}px`, paddingBlockStart: `${first * rowPx}px` }}
      >
        {lines.slice(first, end).map((line) => (
          <LineRow
            key={`${line.item.line}:${line.item.nth}`}
            line={line}
            tests={addressesOf(line.item).map(({ asked }) => queue.stateOf(asked))}
            refusal={refusals.get(line.item.source) ?? ''}
            {...handlers}
          />
        ))}
      </ul>
    </div>
  );
};
