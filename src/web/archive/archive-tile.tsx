import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { archiveText, reasonText } from '../text/archive.js';
import styles from './archive.module.css';
import type { ArchiveControl } from './archive-control.js';
import { EMPTY_LANE, stateAt } from './tape/lane.js';

type TileProps = {
  readonly control: ArchiveControl;
  readonly camera: string;
  readonly name: string;
  readonly onRemove: (() => void) | null;
};

/** Why there is no picture, and when there is one again. */
const GapNote = ({ control, camera }: Pick<TileProps, 'control' | 'camera'>) => {
  const lane = control.lanes.value.get(camera) ?? EMPTY_LANE;
  const state = stateAt(lane, control.timeMs.value);
  if (state.kind !== 'gap') return null;
  const zone = control.zone.value;
  return (
    <p class={styles.gap} data-gap={state.reason}>
      <strong>{archiveText('gap', { reason: reasonText(state.reason) })}</strong>
      <span>{archiveText('gapFrom', { from: zone.clock(state.fromMs), to: zone.clock(state.toMs) })}</span>
    </p>
  );
};

/** One camera's picture of the moment. */
export const ArchiveTile = ({ control, camera, name, onRemove }: TileProps) => {
  const host = useRef<HTMLDivElement>(null);
  const isLarge = control.large.value === camera;
  useEffect(
    () => (host.current === null ? undefined : control.player.attach(camera, host.current)),
    [camera],
  );
  const fact = control.player.facts.value.get(camera);
  const zone = control.zone.value;
  return (
    <section
      class={`${styles.tile} ${isLarge ? styles.large : ''}`}
      aria-label={name}
      data-camera={camera}
      data-shown={fact?.shownMs ?? ''}
      data-over-video
    >
      <div class={styles.screen} ref={host} />
      <GapNote control={control} camera={camera} />
      {fact?.fault == null ? null : (
        <p class={styles.gap} role="alert">
          {archiveText('pictureFailed', { why: fact.fault })}
        </p>
      )}
      <header class={styles.tileHead}>
        {isLarge ? (
          <span class={styles.tileName}>{name}</span>
        ) : (
          <button
            type="button"
            class={styles.tileName}
            onClick={() => control.show(control.cameras.peek(), camera)}
            aria-label={archiveText('enlarge', { camera: name })}
          >
            {name}
          </button>
        )}
        <span>{fact?.shownMs == null ? '' : zone.clock(fact.shownMs)}</span>
        {onRemove === null ? null : (
          <Button
            icon="close"
            kind="quiet"
            label={archiveText('remove', { camera: name })}
            onClick={onRemove}
          />
        )}
      </header>
    </section>
  );
};

/** All cameras of the moment: one large, the others beside or below it. */
export const ArchiveTiles = ({
  control,
  onRemove,
}: {
  readonly control: ArchiveControl;
  readonly onRemove: ((camera: string) => void) | null;
}) => {
  const names = control.names.value;
  return (
    <div class={styles.tiles} data-count={names.length}>
      {names.map(({ id, name }) => (
        <ArchiveTile
          key={id}
          control={control}
          camera={id}
          name={name}
          onRemove={onRemove === null || names.length < 2 ? null : () => onRemove(id)}
        />
      ))}
    </div>
  );
};
