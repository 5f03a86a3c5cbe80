import { isCluster } from '../../../data/boxes.js';
import { nameOf } from '../../../data/cameras.js';
import type { Camera, Folder, Tag } from '../../../data/types.js';
import { Button } from '../../../parts/button.js';
import { camerasText } from '../../../text/cameras.js';
import { cell, row } from './grid-roles.js';
import { RecordingCell, StateCell } from './state-badge.js';
import styles from './table.module.css';

const rates = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const megabits = new Intl.NumberFormat('en', { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const KBIT_PER_MBIT = 1_000;

const sizeOf = ({ width, height }: Camera): string => (width > 0 ? `${width}×${height}` : '');

const figuresOf = ({ state, fps, bitrate }: Camera): { readonly fps: string; readonly bitrate: string } =>
  state === 'streaming'
    ? { fps: rates.format(fps), bitrate: megabits.format(bitrate / KBIT_PER_MBIT) }
    : { fps: '', bitrate: '' };

export type RowProps = {
  readonly camera: Camera;
  readonly rowIndex: number;
  readonly domId: string;
  readonly isActive: boolean;
  /** null: nothing can be selected. */
  readonly isSelected: boolean | null;
  readonly isCard: boolean;
  readonly folderNames: ReadonlyMap<string, Folder>;
  readonly tagNames: ReadonlyMap<string, Tag>;
  readonly onSelect: (id: string, isRange: boolean) => void;
  readonly onEdit: (id: string) => void;
  readonly onActivate: (id: string) => void;
  readonly onDrag: (id: string, event: DragEvent) => void;
};

const Tags = ({ camera, tagNames }: Pick<RowProps, 'camera' | 'tagNames'>) => (
  <div class={styles.tags} {...cell} title={camera.tags.map((id) => tagNames.get(id)?.name ?? id).join(', ')}>
    {camera.tags.map((id) => (
      <span key={id} class={styles.tag}>
        <svg class={styles.dot} viewBox="0 0 10 10" aria-hidden="true">
          <circle cx="5" cy="5" r="4" fill={tagNames.get(id)?.color ?? 'none'} />
        </svg>
        {tagNames.get(id)?.name ?? id}
      </span>
    ))}
  </div>
);

const Figures = ({ camera, isCard }: Pick<RowProps, 'camera' | 'isCard'>) => {
  const { fps, bitrate } = figuresOf(camera);
  if (isCard) {
    const parts = [camera.codec, sizeOf(camera), fps && `${fps} fps`, bitrate && `${bitrate} Mbit/s`];
    return (
      <div class={styles.figures} {...cell}>
        {parts.filter(Boolean).join(' · ')}
      </div>
    );
  }
  return (
    <>
      <div class={styles.codec} {...cell}>
        {camera.codec}
      </div>
      <div class={styles.size} {...cell}>
        {sizeOf(camera)}
      </div>
      <div class={styles.number} {...cell}>
        {fps}
      </div>
      <div class={styles.number} {...cell}>
        {bitrate}
      </div>
    </>
  );
};

/** Its id, where it is called otherwise; and whose it is, of several boxes. */
const Beside = ({ camera: { id, owner }, name }: Pick<RowProps, 'camera'> & { readonly name: string }) => {
  const parts = [
    ...(name === id ? [] : [id]),
    ...(isCluster.value ? [owner === '' ? camerasText('noBox') : owner] : []),
  ];
  return parts.length === 0 ? null : <small>{parts.join(' · ')}</small>;
};

/** One camera: a line of the table, or a card where there is no room for one. */
export const CameraRow = (props: RowProps) => {
  const { camera, isSelected, isActive, isCard, onSelect, onEdit, onActivate } = props;
  const name = nameOf(camera);
  const onClick = (event: MouseEvent): void => {
    const target = event.target as Element;
    if (target.closest('a, button') !== null) return;
    onActivate(camera.id);
    const isBox = target.closest('[data-select]') !== null;
    if (isSelected !== null && (isBox || event.shiftKey || event.ctrlKey || event.metaKey))
      onSelect(camera.id, event.shiftKey);
  };
  const handled = {
    'aria-rowindex': props.rowIndex,
    'aria-selected': isSelected ?? undefined,
    draggable: isSelected !== null,
    onClick,
    onDblClick: () => isSelected !== null && onEdit(camera.id),
    onDragStart: (event: DragEvent) => props.onDrag(camera.id, event),
  };
  return (
    <div id={props.domId} class={`${styles.row} ${isActive ? styles.active : ''}`} {...row} {...handled}>
      {isSelected === null ? null : (
        <div class={styles.select} {...cell} data-select>
          <input
            type="checkbox"
            tabIndex={-1}
            checked={isSelected}
            aria-label={camerasText('select', { name })}
            onMouseDown={(event) => event.preventDefault()}
            onClick={(event) => {
              // What is shown is what is chosen, and the row decides that.
              event.currentTarget.checked = isSelected;
            }}
          />
        </div>
      )}
      <div class={`${styles.two} ${styles.name}`} {...cell}>
        <a href={`/camera/${encodeURIComponent(camera.id)}`} tabIndex={-1} draggable={false}>
          {name}
        </a>
        <Beside camera={camera} name={name} />
      </div>
      <div class={styles.stateCell} {...cell}>
        <StateCell camera={camera} />
      </div>
      <Figures camera={camera} isCard={isCard} />
      <div class={styles.recording} {...cell}>
        <RecordingCell camera={camera} />
      </div>
      {isCard ? null : (
        <>
          <div class={styles.number} {...cell}>
            {camera.viewers === 0 ? '' : camera.viewers}
          </div>
          <Tags camera={camera} tagNames={props.tagNames} />
          <div class={styles.folder} {...cell}>
            {props.folderNames.get(camera.folder_id)?.name ?? camera.folder_id}
          </div>
        </>
      )}
      {isSelected === null ? null : (
        <div class={styles.edit} {...cell}>
          <Button
            icon="edit"
            kind="quiet"
            label={camerasText('edit', { name })}
            onClick={() => onEdit(camera.id)}
          />
        </div>
      )}
    </div>
  );
};
