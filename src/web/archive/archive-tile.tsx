import { useComputed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Button } from '../parts/button.js';
import { SeenBoxes } from '../player/seen-boxes.js';
import { archiveText, gapText } from '../text/archive.js';
import styles from './archive.module.css';
import type { ArchiveControl } from './archive-control.js';
import { boxAway, EMPTY_LANE, gapAt } from './tape/lane.js';

type TileProps = {
  readonly control: ArchiveControl;
  readonly camera: string;
  readonly name: string;
  readonly onRemove: (() => void) | null;
};

/** Why there is no picture, and when there is one again. */
const GapNote = ({ control, camera }: Pick<TileProps, 'control' | 'camera'>) => {
  const gap = useComputed(() =>
    gapAt(control.lanes.value.get(camera) ?? EMPTY_LANE, control.timeMs.value),
  ).value;
  if (gap === null) return null;
  const [fromMs, toMs, reason] = gap;
  const zone = control.zone.value;
  return (
    <p class={styles.gap} data-gap={reason}>
      <strong>{gapText(reason, boxAway(reason))}</strong>
      <span>{archiveText('gapFrom', { from: zone.clock(fromMs), to: zone.clock(toMs) })}</span>
    </p>
  );
};

/** What was detected in the picture, over it; what was seen in one a little before is paler. */
const Boxes = ({ control, camera }: Pick<TileProps, 'control' | 'camera'>) => {
  const ratio = useComputed(() => control.player.facts.value.get(camera)?.ratio ?? 0).value;
  const { objects, isOfIt } = useComputed(() => control.seenIn(camera)).value;
  if (objects.length === 0 || ratio === 0) return null;
  return (
    <div class={isOfIt ? undefined : styles.before} data-boxes={isOfIt ? 'now' : 'before'}>
      <SeenBoxes objects={objects} ratio={ratio} />
    </div>
  );
};

/** One camera's picture of the moment. Facts of others, and time that goes on, don't draw it anew. */
export const ArchiveTile = ({ control, camera, name, onRemove }: TileProps) => {
  const host = useRef<HTMLDivElement>(null);
  const isLarge = useComputed(() => control.large.value === camera).value;
  useEffect(
    () => (host.current === null ? undefined : control.player.attach(camera, host.current)),
    [camera],
  );
  const fact = useComputed(() => control.player.facts.value.get(camera)).value;
  const exists = useComputed(() => control.exists(camera)).value;
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
      <Boxes control={control} camera={camera} />
      {exists ? (
        <GapNote control={control} camera={camera} />
      ) : (
        <p class={styles.gap}>{archiveText('gone')}</p>
      )}
      {fact?.fault == null ? null : (
        <p class={styles.gap} role="alert">
          {archiveText('pictureFailed', { why: fact.fault })}
        </p>
      )}
      {fact?.retrying == null ? null : (
        <p class={styles.retrying} data-retrying>
          {archiveText('retrying', { why: fact.retrying })}
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
