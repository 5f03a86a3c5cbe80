import { useId, useState } from 'preact/hooks';
import { setQuery } from '../../../data/route.js';
import type { Camera, Folder, Tag } from '../../../data/types.js';
import { Icon } from '../../../parts/icon.js';
import { camerasText } from '../../../text/cameras.js';
import { CameraRow } from './camera-row.js';
import { columnHead, row, rowGroup } from './grid-roles.js';
import { allToggled, extended, type Selection, toggled } from './selection.js';
import styles from './table.module.css';
import { useVirtualRows } from './use-virtual-rows.js';
import { type SortColumn, sortAfterClick, type View } from './view.js';

const ROW_PX = 48;
const CARD_PX = 88;
const HEAD_PX = 36;
/** Below this a line has no room, and becomes a card. */
const CARDS_BELOW_PX = 620;
const PAGE_ROWS = 10;
/** What is dragged from the table to a folder. */
export const DRAGGED_CAMERAS = 'application/x-framering-cameras';

const columns: readonly (readonly [column: SortColumn | 'tags', style: string | undefined])[] = [
  ['name', styles.name],
  ['state', styles.stateCell],
  ['codec', styles.codec],
  ['size', styles.size],
  ['fps', styles.number],
  ['bitrate', styles.number],
  ['recording', styles.recording],
  ['viewers', styles.number],
  ['tags', styles.tags],
  ['folder', styles.folder],
];

export type TableProps = {
  readonly rows: readonly Camera[];
  readonly view: View;
  readonly folderNames: ReadonlyMap<string, Folder>;
  readonly tagNames: ReadonlyMap<string, Tag>;
  /** null: who looks at it may change nothing. */
  readonly selection: Selection | null;
  readonly onSelection: (selection: Selection) => void;
  readonly onEdit: (id: string) => void;
};

const HeadCell = ({
  column,
  style,
  view,
}: {
  column: SortColumn | 'tags';
  style: string | undefined;
  view: View;
}) => {
  if (column === 'tags')
    return (
      <div class={style} {...columnHead}>
        {camerasText('tags')}
      </div>
    );
  const isSorted = view.sort === column;
  const sorted = {
    'aria-sort': isSorted ? (view.isDescending ? 'descending' : 'ascending') : undefined,
  } as const;
  return (
    <div class={style} {...columnHead} {...sorted}>
      <button
        type="button"
        class={styles.sort}
        onClick={() => setQuery({ sort: sortAfterClick(view, column) }, { isReplaced: true })}
      >
        {camerasText(column)}
        {isSorted ? <Icon name={view.isDescending ? 'down' : 'up'} /> : null}
      </button>
    </div>
  );
};

const TableHead = ({ rows, view, selection, onSelection }: TableProps) => {
  const order = rows.map(({ id }) => id);
  return (
    <div class={styles.head} {...row} {...{ 'aria-rowindex': 1 }}>
      {selection === null ? null : (
        <div class={styles.select} {...columnHead}>
          <input
            type="checkbox"
            aria-label={camerasText('selectAll')}
            checked={order.length > 0 && order.every((id) => selection.ids.has(id))}
            onChange={() => onSelection(allToggled(selection, order))}
          />
        </div>
      )}
      {columns.map(([column, style]) => (
        <HeadCell key={column} column={column} style={style} view={view} />
      ))}
    </div>
  );
};

/** Where an arrow leads to. */
const indexAfter = (key: string, at: number, count: number): number | null => {
  const to = {
    ...{ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: count - 1 },
    ...{ PageDown: at + PAGE_ROWS, PageUp: at - PAGE_ROWS },
  }[key];
  return to === undefined || count === 0 ? null : Math.max(0, Math.min(count - 1, to));
};

const useGridKeys = (
  props: TableProps,
  active: string | null,
  onMove: (index: number) => void,
): ((event: KeyboardEvent) => void) => {
  const { rows, selection, onSelection, onEdit } = props;
  return (event) => {
    // Buttons and links in the table have keys of their own.
    if (event.target !== event.currentTarget) return;
    const order = rows.map(({ id }) => id);
    const at = active === null ? -1 : order.indexOf(active);
    const to = indexAfter(event.key, at, order.length);
    const id = order[at];
    if (to !== null) {
      onMove(to);
      const next = order[to];
      if (event.shiftKey && selection !== null && next !== undefined)
        onSelection(
          extended(
            id !== undefined && selection.anchor === null ? toggled(selection, id) : selection,
            order,
            next,
          ),
        );
    } else if (event.key === 'a' && (event.ctrlKey || event.metaKey) && selection !== null)
      onSelection(allToggled(selection, order));
    else if (event.key === ' ' && selection !== null && id !== undefined)
      onSelection(event.shiftKey ? extended(selection, order, id) : toggled(selection, id));
    else if (event.key === 'Enter' && selection !== null && id !== undefined) onEdit(id);
    else return;
    event.preventDefault();
  };
};

/** All cameras of a view: however many there are, only those in sight are drawn. */
export const CameraTable = (props: TableProps) => {
  const { rows, selection, onSelection } = props;
  const id = useId();
  const [active, setActive] = useState<string | null>(null);
  const [isNarrow, setIsNarrow] = useState(false);
  const rowPx = isNarrow ? CARD_PX : ROW_PX;
  const headPx = isNarrow ? 0 : HEAD_PX;
  const { scroller, first, end, widthPx, show } = useVirtualRows(rows.length, rowPx, headPx);
  if (widthPx > 0 && widthPx < CARDS_BELOW_PX !== isNarrow) setIsNarrow(!isNarrow);
  const onKeyDown = useGridKeys(props, active, (index) => {
    setActive(rows[index]?.id ?? null);
    show(index);
  });
  const onDrag = (cameraId: string, event: DragEvent): void => {
    const ids = selection?.ids.has(cameraId) === true ? [...selection.ids] : [cameraId];
    event.dataTransfer?.setData(DRAGGED_CAMERAS, JSON.stringify(ids));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: see grid-roles.ts
    <div
      ref={scroller}
      class={`${styles.scroller} ${isNarrow ? styles.cards : ''} ${selection === null ? styles.readOnly : ''}`}
      role="grid"
      tabIndex={0}
      aria-label={camerasText('title')}
      aria-rowcount={rows.length + 1}
      aria-multiselectable={selection !== null}
      aria-activedescendant={active === null ? undefined : `${id}-${active}`}
      onKeyDown={onKeyDown}
    >
      {isNarrow ? null : <TableHead {...props} />}
      <div
        {...rowGroup}
        class={styles.body}
        style={{ height: `${rows.length * rowPx}px`, paddingBlockStart: `${first * rowPx}px` }}
      >
        {rows.slice(first, end).map((camera, index) => (
          <CameraRow
            key={camera.id}
            camera={camera}
            domId={`${id}-${camera.id}`}
            rowIndex={first + index + 2}
            isActive={camera.id === active}
            isSelected={selection === null ? null : selection.ids.has(camera.id)}
            isCard={isNarrow}
            folderNames={props.folderNames}
            tagNames={props.tagNames}
            onSelect={(cameraId, isRange) => {
              if (selection === null) return;
              const order = rows.map((row) => row.id);
              onSelection(isRange ? extended(selection, order, cameraId) : toggled(selection, cameraId));
            }}
            onEdit={props.onEdit}
            onActivate={setActive}
            onDrag={onDrag}
          />
        ))}
      </div>
    </div>
  );
};
