import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../../../data/problem.js';
import type { Camera } from '../../../data/types.js';
import { Button } from '../../../parts/button.js';
import { Menu } from '../../../parts/menu.js';
import { ProblemBox } from '../../../parts/problem-box.js';
import { bulkText } from '../../../text/bulk-cameras.js';
import { changeMany } from './apply.js';
import styles from './bulk.module.css';
import { DeleteDialog, MoveDialog, RetentionDialog, TagsDialog } from './bulk-dialogs.js';
import type { Change } from './changes.js';

type Opened = 'retention' | 'move' | 'tags' | 'delete' | null;

const changes = [
  ['recordOn', { record: true }],
  ['recordOff', { record: false }],
  ['enable', { disabled: false }],
  ['disable', { disabled: true }],
  ['demandOn', { on_demand: true }],
  ['demandOff', { on_demand: false }],
  ['tokenOn', { token_auth: true }],
  ['tokenOff', { token_auth: false }],
] as const satisfies readonly (readonly [string, Change])[];

/** While the bar is there, toasts stand above it. */
const useRoomForToasts = (): RefObject<HTMLElement | null> => {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() =>
      style.setProperty('--toasts-above', `${bar.current?.offsetHeight ?? 0}px`),
    );
    if (bar.current !== null) observer.observe(bar.current);
    return () => {
      observer.disconnect();
      style.removeProperty('--toasts-above');
    };
  }, []);
  return bar;
};

/** What can be done to the cameras that are selected. */
export const BulkBar = ({
  cameras,
  onClear,
}: {
  readonly cameras: readonly Camera[];
  readonly onClear: () => void;
}) => {
  const [opened, setOpened] = useState<Opened>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const bar = useRoomForToasts();
  const close = (): void => setOpened(null);
  const change = (to: Change): void => {
    setProblem(null);
    changeMany(cameras, () => to).catch((fault: unknown) => setProblem(asProblem(fault)));
  };
  const items = [
    ...changes.map(([name, to]) => ({ label: bulkText(name), onSelect: () => change(to) })),
    { label: bulkText('retention'), onSelect: () => setOpened('retention') },
  ];
  return (
    <section ref={bar} class={styles.bar} aria-label={bulkText('bar')}>
      {problem === null ? null : <ProblemBox what={bulkText('failed')} problem={problem} />}
      <div class={styles.actions}>
        <strong>{bulkText('selected', { count: cameras.length })}</strong>
        <span class={styles.space}>
          <Button icon="close" kind="quiet" label={bulkText('clear')} onClick={onClear} />
        </span>
        <Menu icon="edit" items={items}>
          {bulkText('change')}
        </Menu>
        <Button icon="folder" onClick={() => setOpened('move')}>
          {bulkText('move')}
        </Button>
        <Button icon="tag" onClick={() => setOpened('tags')}>
          {bulkText('tags')}
        </Button>
        <Button icon="remove" kind="danger" onClick={() => setOpened('delete')}>
          {bulkText('delete')}
        </Button>
      </div>
      {opened === 'retention' ? <RetentionDialog cameras={cameras} onClose={close} /> : null}
      {opened === 'move' ? <MoveDialog cameras={cameras} onClose={close} /> : null}
      {opened === 'tags' ? <TagsDialog cameras={cameras} onClose={close} /> : null}
      {opened === 'delete' ? <DeleteDialog cameras={cameras} onClose={close} onDeleted={onClear} /> : null}
    </section>
  );
};
