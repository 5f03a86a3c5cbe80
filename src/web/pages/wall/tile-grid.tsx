import { useEffect, useRef, useState } from 'preact/hooks';
import { changeLayout, type Layout } from '../../data/layouts.js';
import { asProblem, type Problem } from '../../data/problem.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { wallText } from '../../text/wall.js';
import { CameraPicker } from './camera-picker.js';
import { useEnlarged } from './moving.js';
import { type Grid, type GridForm, neighbourOf, swapped } from './slots.js';
import { EmptyTile, Tile } from './tile.js';
import styles from './wall.module.css';
import { clearCounts } from './wall-counts.js';

export type TileGridProps = {
  readonly form: GridForm;
  readonly grid: Grid;
  readonly slots: readonly (string | null)[];
  readonly layout: Layout | null;
  readonly isEditing: boolean;
  readonly onOpen: (cameraId: string) => void;
};

/** All tiles are one row to who can't see them: a large one beside small ones has no other. */
const ROW = { role: 'row' } as const;

/** Changes a layout, shown at once; what fails is said, and shown as it is. */
const useTiles = (layout: Layout | null, slots: readonly (string | null)[]) => {
  const [shown, setShown] = useState<readonly (string | null)[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => setShown(null), [layout?.revision]);
  const keep = (tiles: readonly (string | null)[]): void => {
    if (layout === null) return;
    setShown(tiles);
    const body = { tiles: tiles.map((id) => ({ camera_id: id ?? '' })) };
    changeLayout(layout, body).catch((fault: unknown) => {
      setProblem(asProblem(fault));
      setShown(null);
    });
  };
  return { tiles: shown ?? slots, keep, problem };
};

/** Tiles of a wall: a grid with one place in the order of Tab, and arrows within. */
export const TileGrid = ({ form, grid, slots, layout, isEditing, onOpen }: TileGridProps) => {
  const root = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState(0);
  const [hasFocus, setHasFocus] = useState(false);
  const [picking, setPicking] = useState<number | null>(null);
  const { tiles, keep, problem } = useTiles(layout, slots);
  const enlarged = useEnlarged(tiles);
  const mayArrange = isEditing && layout?.source.kind === 'hand';
  const dragged = useRef<number | null>(null);
  useEffect(() => clearCounts, []);
  useEffect(() => {
    root.current?.style.setProperty('--columns', String(form.columns));
    root.current?.style.setProperty('--large', String(form.large));
  }, [form]);
  const focus = (at: number): void => {
    setFocused(at);
    root.current?.querySelector<HTMLElement>(`[data-slot="${at}"]`)?.focus();
  };
  const open = (at: number): void => {
    const id = tiles[at] ?? null;
    if (mayArrange) setPicking(at);
    else if (id !== null) onOpen(id);
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target !== event.currentTarget) return;
    if (event.key === 'Enter') open(focused);
    else if (!/^(?:Arrow|Home$|End$)/.test(event.key)) return;
    else {
      const to = Math.min(tiles.length - 1, neighbourOf(focused, event.key, grid));
      if (event.shiftKey && mayArrange) keep(swapped(tiles, focused, to));
      focus(to);
    }
    event.preventDefault();
  };
  return (
    <>
      {problem === null ? null : <ProblemBox what={wallText('changeFailed')} problem={problem} />}
      {mayArrange ? <p class={styles.hint}>{wallText('editHint')}</p> : null}
      {/* biome-ignore lint/a11y/useSemanticElements: it is a grid of pictures, no table */}
      <div
        ref={root}
        class={styles.grid}
        data-grid={grid}
        role="grid"
        aria-label={wallText('wall')}
        tabIndex={-1}
        onFocusCapture={() => setHasFocus(true)}
        onBlurCapture={() => setHasFocus(false)}
      >
        <div class={styles.row} {...ROW}>
          {tiles.map((id, at) => {
            const common = {
              slot: at,
              isFocused: at === focused,
              isArranged: mayArrange,
              isEnlarged: id !== null && id === enlarged && tiles.indexOf(id) === at,
              onKeyDown: onKey,
              onFocus: () => setFocused(at),
              onOpen: () => open(at),
              onDrag: () => {
                dragged.current = at;
              },
              onDrop: () => {
                if (dragged.current !== null) keep(swapped(tiles, dragged.current, at));
                dragged.current = null;
              },
            };
            return id === null ? (
              <EmptyTile key={`empty ${at}`} {...common} />
            ) : (
              <Tile
                key={`${id} ${tiles.indexOf(id) === at ? '' : at}`}
                {...common}
                cameraId={id}
                isImportant={hasFocus && at === focused}
              />
            );
          })}
        </div>
      </div>
      {picking === null ? null : (
        <CameraPicker
          title={wallText('pickFor')}
          mayLeaveEmpty
          onClose={() => setPicking(null)}
          onPick={(id) => {
            keep(tiles.map((each, at) => (at === picking ? id : each)));
            setPicking(null);
          }}
        />
      )}
    </>
  );
};
