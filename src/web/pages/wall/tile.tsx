import { useEffect, useRef } from 'preact/hooks';
import { cameras } from '../../data/cameras.js';
import { preferences } from '../../data/preferences.js';
import type { Camera } from '../../data/types.js';
import { LivePicture, pictureName, TileBadges, tileState } from '../../player/live-picture.js';
import type { LiveTile } from '../../player/live-tile.js';
import { useLiveTile } from '../../player/use-live-tile.js';
import { wallText } from '../../text/wall.js';
import styles from './wall.module.css';
import { countTile } from './wall-counts.js';

export type SlotProps = {
  readonly slot: number;
  readonly isFocused: boolean;
  readonly isArranged: boolean;
  /** Over all of the wall, for a while. */
  readonly isEnlarged: boolean;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly onFocus: () => void;
  readonly onOpen: () => void;
  readonly onDrag: () => void;
  readonly onDrop: () => void;
};

const cellProps = (
  { slot, isFocused, isArranged, onKeyDown, onFocus, onOpen, onDrag, onDrop }: SlotProps,
  label?: string,
) => ({
  'aria-label': label,
  role: 'gridcell' as const,
  tabIndex: isFocused ? 0 : -1,
  'data-slot': slot,
  'data-over-video': true,
  draggable: isArranged,
  onKeyDown,
  onFocus,
  onClick: onOpen,
  onDragStart: onDrag,
  onDragOver: (event: DragEvent) => event.preventDefault(),
  onDrop: (event: DragEvent) => {
    event.preventDefault();
    onDrop();
  },
});

/** What is said over a picture: who it is, and how it is. */
const Overlay = ({ tile, camera, name }: { tile: LiveTile; camera: Camera | null; name: string }) => (
  <div class={styles.overlay}>
    <span class={styles.name}>{name}</span>
    <TileBadges tile={tile} camera={camera} />
  </div>
);

/** Says to the wall how the tile is. */
const useTileState = (tile: LiveTile | null, camera: Camera | null): void => {
  // By itself, not by its place: two tiles that change places would each wipe out the other.
  const { current: self } = useRef({});
  const state = tile === null ? 'waiting' : tileState(camera, tile.view.value);
  useEffect(() => countTile(self, state), [state]);
  useEffect(() => () => countTile(self, null), []);
};

export const Tile = ({
  cameraId,
  isImportant,
  ...slot
}: SlotProps & { readonly cameraId: string; readonly isImportant: boolean }) => {
  const camera = cameras.value?.get(cameraId) ?? null;
  const tile = useLiveTile(cameraId, {
    stream: isImportant ? 'main' : 'auto',
    isPaced: isImportant,
    hasDetections: camera?.detect === true && preferences.value.hidesDetections !== true,
    importance: isImportant ? 100 : slot.isEnlarged ? 50 : slot.slot === 0 ? 10 : 1,
  });
  useTileState(tile, camera);
  const name = pictureName(camera, cameraId);
  return (
    <div
      class={`${styles.tile} ${slot.isEnlarged ? styles.enlarged : ''}`}
      {...cellProps(slot)}
      data-camera={cameraId}
      data-enlarged={slot.isEnlarged || undefined}
    >
      {tile === null ? null : (
        <div class={styles.inner}>
          <Overlay tile={tile} camera={camera} name={name} />
          <LivePicture tile={tile} camera={camera} />
        </div>
      )}
    </div>
  );
};

export const EmptyTile = (slot: SlotProps) => (
  <div
    class={`${styles.tile} ${styles.empty}`}
    {...cellProps(slot, slot.isArranged ? undefined : wallText('tileEmpty'))}
  >
    {slot.isArranged ? wallText('pick') : null}
  </div>
);
