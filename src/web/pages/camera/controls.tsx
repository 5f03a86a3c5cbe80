import { preferences, toggleDetections } from '../../data/preferences.js';
import { query, setQuery } from '../../data/route.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { may } from '../../data/session.js';
import type { Camera } from '../../data/types.js';
import { Button, LinkButton } from '../../parts/button.js';
import { Menu } from '../../parts/menu.js';
import { type Rung, rungs } from '../../player/ladder.js';
import { reasonText } from '../../player/live-picture.js';
import type { LiveTile } from '../../player/live-tile.js';
import { modelText } from '../../text/model.js';
import { moveText } from '../../text/move-camera.js';

import { cameraText } from '../../text/wall.js';
import styles from './camera.module.css';

export type ControlsProps = {
  readonly camera: Camera;
  readonly tile: LiveTile | null;
  readonly hasSound: boolean;
  readonly soundHint: string | undefined;
  readonly isShowingFigures: boolean;
  readonly rung: Rung | null;
  /** Null: it can't be moved, or not by this user. */
  readonly isMoving: boolean | null;
  readonly onMove: () => void;
  readonly onSound: () => void;
  readonly onSnapshot: () => void;
  readonly onFigures: () => void;
  readonly onRung: (rung: Rung | null) => void;
};

/** Where the archive is a moment ago: it has no "now". */
const archiveOf = ({ id }: Camera): string => {
  const time = new Date(serviceNowMs() - 10_000).toISOString();
  return `/archive?cameras=${encodeURIComponent(id)}&t=${encodeURIComponent(time)}`;
};

const PlayerMenu = ({ tile, rung, onRung }: Pick<ControlsProps, 'tile' | 'rung' | 'onRung'>) => (
  <Menu
    icon="play"
    kind="quiet"
    label={cameraText('player')}
    items={[
      { label: cameraText('playerBest'), isChosen: rung === null, onSelect: () => onRung(null) },
      ...rungs.map((each) => {
        const reason = tile?.reasonFor(each) ?? null;
        return {
          label: cameraText(each),
          isChosen: rung === each,
          onSelect: () => onRung(each),
          ...(reason === null ? {} : { notNow: reasonText(reason) }),
        };
      }),
    ]}
  />
);

/** Which model looks stands in the address, so that a link to it works. */
const ModelButton = () => {
  if (!may('models.list')) return null;
  const isOpen = query.value.has('model');
  return (
    <Button
      icon="cpu"
      kind="quiet"
      label={modelText(isOpen ? 'close' : 'open')}
      isPressed={isOpen}
      onClick={() => setQuery({ model: isOpen ? null : '' })}
    />
  );
};

/** What can be done with a camera that is watched. */
export const Controls = (props: ControlsProps) => {
  const { camera, hasSound, soundHint, isShowingFigures, onSound, onSnapshot, onFigures } = props;
  const areDetectionsShown = camera.detect && preferences.value.hidesDetections !== true;
  const detectionHint = camera.detect
    ? camera.detect_error === ''
      ? undefined
      : cameraText('noDetectionNow', { why: camera.detect_error })
    : cameraText('noDetection');
  return (
    <span class={styles.controls}>
      <Button
        icon={hasSound ? 'sound' : 'mute'}
        kind="quiet"
        label={cameraText(hasSound ? 'soundOff' : 'soundOn')}
        isPressed={hasSound}
        isDisabled={camera.audio_codec === ''}
        onClick={onSound}
        {...(soundHint === undefined ? {} : { title: soundHint })}
      />
      <Button
        icon="scan"
        kind="quiet"
        label={cameraText(areDetectionsShown ? 'detectionsOff' : 'detectionsOn')}
        isPressed={areDetectionsShown}
        isDisabled={!camera.detect}
        onClick={toggleDetections}
        {...(detectionHint === undefined ? {} : { title: detectionHint })}
      />
      <ModelButton />
      {props.isMoving === null ? null : (
        <Button
          icon="move"
          kind="quiet"
          label={moveText('open')}
          isPressed={props.isMoving}
          onClick={props.onMove}
        />
      )}
      <Button icon="snapshot" kind="quiet" label={cameraText('snapshot')} onClick={onSnapshot} />
      <Button
        icon="activity"
        kind="quiet"
        label={cameraText('stats')}
        isPressed={isShowingFigures}
        onClick={onFigures}
      />
      <PlayerMenu {...props} />
      <LinkButton icon="archive" href={archiveOf(camera)}>
        {cameraText('archive')}
      </LinkButton>
    </span>
  );
};
