import { nameOf } from '../data/cameras.js';
import { showDuration } from '../data/time.js';
import type { Camera } from '../data/types.js';
import { Icon } from '../parts/icon.js';
import type { IconName } from '../parts/icons.js';
import type { Tone } from '../parts/states.js';
import { wallText } from '../text/wall.js';
import { type BadgeCamera, type BadgeKind, badgesOf, isAway } from './badges.js';
import type { RungReason } from './ladder.js';
import styles from './live-picture.module.css';
import type { LiveTile } from './live-tile.js';
import { SeenBoxes } from './seen-boxes.js';
import type { TileView } from './tile-view.js';

const badgeCameraOf = (camera: Camera | null): BadgeCamera | null =>
  camera === null
    ? null
    : {
        state: camera.state,
        recording: camera.recording,
        recordError: camera.record_error,
        hasSub: camera.sub !== null,
      };

const looks: Readonly<Record<BadgeKind, { readonly icon: IconName; readonly tone: Tone }>> = {
  live: { icon: 'ok', tone: 'ok' },
  sub: { icon: 'minimize', tone: 'plain' },
  keyframes: { icon: 'key', tone: 'warn' },
  still: { icon: 'snapshot', tone: 'warn' },
  compatible: { icon: 'info', tone: 'warn' },
  stalled: { icon: 'pause', tone: 'warn' },
  away: { icon: 'offline', tone: 'danger' },
  standby: { icon: 'moon', tone: 'plain' },
  recording: { icon: 'record', tone: 'danger' },
  unrecorded: { icon: 'warning', tone: 'warn' },
};

const reasons: Readonly<Record<RungReason, () => string>> = {
  insecure: () => wallText('reasonInsecure'),
  missing: () => wallText('reasonMissing'),
  codec: () => wallText('reasonCodec'),
  socket: () => wallText('reasonSocket'),
  failed: () => wallText('reasonFailed'),
  places: () => wallText('reasonPlaces'),
};

export const reasonText = (reason: RungReason): string => reasons[reason]();

const badgeText = (kind: BadgeKind, { lagMs }: TileView): string => {
  if (kind === 'live')
    return lagMs === null ? wallText('live') : wallText('liveLag', { lag: (lagMs / 1_000).toFixed(1) });
  return wallText(kind);
};

const badgeTitle = (kind: BadgeKind, { reason }: TileView, camera: Camera | null): string | undefined => {
  if (kind === 'unrecorded') return wallText('unrecordedHint', { why: camera?.record_error ?? '' });
  if (kind === 'sub') return wallText('subHint');
  if (kind === 'keyframes') return wallText('keyframesHint');
  if (kind === 'stalled') return wallText('stalledHint');
  if (kind === 'recording') return wallText('recordingHint');
  if (kind === 'still') return reason === null ? wallText('stillHint') : reasonText(reason);
  return kind === 'compatible' && reason !== null ? reasonText(reason) : undefined;
};

/** Of what isn't as it should be: a click tries it anew at once. */
const RETRIED: readonly BadgeKind[] = ['still', 'compatible', 'stalled', 'away'];

const Badge = ({
  kind,
  view,
  camera,
  isInTabOrder,
  onRetry,
}: {
  readonly kind: BadgeKind;
  readonly view: TileView;
  readonly camera: Camera | null;
  readonly isInTabOrder: boolean;
  readonly onRetry: () => void;
}) => {
  const title = badgeTitle(kind, view, camera);
  const content = (
    <>
      <Icon name={looks[kind].icon} />
      {badgeText(kind, view)}
    </>
  );
  const common = { class: `${styles.badge} ${styles[looks[kind].tone]}`, 'data-badge': kind };
  if (!RETRIED.includes(kind))
    return (
      <span {...common} title={title}>
        {content}
      </span>
    );
  const retry = (event: MouseEvent): void => {
    event.stopPropagation();
    onRetry();
  };
  const why = title === undefined ? '' : `${title}. `;
  return (
    <button
      {...common}
      type="button"
      tabIndex={isInTabOrder ? 0 : -1}
      title={why + wallText('retryTile')}
      onClick={retry}
    >
      {content}
    </button>
  );
};

/** `isInTabOrder`: a wall of tiles is one stop of Tab, and Enter opens the camera, which tries anew as well. */
export const TileBadges = ({
  tile,
  camera,
  isInTabOrder = false,
}: {
  readonly tile: LiveTile;
  readonly camera: Camera | null;
  readonly isInTabOrder?: boolean;
}) => {
  const view = tile.view.value;
  return (
    <span class={styles.badges}>
      {badgesOf(badgeCameraOf(camera), view).map((kind) => (
        <Badge key={kind} {...{ kind, view, camera, isInTabOrder }} onRetry={() => tile.retry()} />
      ))}
    </span>
  );
};

const stateTexts: Readonly<Record<string, () => string>> = {
  connecting: () => wallText('stateConnecting'),
  reconnecting: () => wallText('stateReconnecting'),
  error: () => wallText('stateError'),
  disabled: () => wallText('stateDisabled'),
  traffic_limited: () => wallText('stateTraffic'),
};

/** Why there is no picture, in the words of whoever knows. */
const whyNot = (camera: Camera | null, { problem }: TileView): string => {
  const state = camera === null ? undefined : stateTexts[camera.state]?.();
  if (camera !== null && state !== undefined)
    return camera.last_error === '' ? state : `${state}: ${camera.last_error}`;
  return problem?.detail ?? wallText('stalledHint');
};

/** How a tile is, in words: for who doesn't see it, and for the count of the wall. */
export const tileState = (camera: Camera | null, view: TileView): 'live' | 'away' | 'waiting' => {
  if (isAway(badgeCameraOf(camera), view)) return 'away';
  return view.freshness === 'waiting' ? 'waiting' : 'live';
};

/** The same in the order in which it stands there. */
export const tileStateText = (camera: Camera | null, view: TileView): string => {
  const words = badgesOf(badgeCameraOf(camera), view).map((kind) => badgeText(kind, view));
  const isGone = isAway(badgeCameraOf(camera), view);
  if (isGone && view.ageMs > 0) words.push(`${wallText('noPictureFor')} ${showDuration(view.ageMs)}`);
  if (isGone) words.push(whyNot(camera, view));
  else if (view.freshness === 'waiting') words.push(wallText('waiting'));
  return words.filter((word) => word !== '').join(', ');
};

/** What stands over a picture that isn't live: how old it is in large digits, and why. */
const Notice = ({ camera, view }: { readonly camera: Camera | null; readonly view: TileView }) => {
  const isGone = isAway(badgeCameraOf(camera), view);
  if (!isGone && view.freshness !== 'waiting') return null;
  const why = isGone ? whyNot(camera, view) : wallText('waiting');
  return (
    <div class={styles.notice}>
      {isGone && view.ageMs > 0 ? (
        <>
          <span class={styles.ageLabel}>{wallText('noPictureFor')}</span>
          <strong class={styles.age}>{showDuration(view.ageMs)}</strong>
        </>
      ) : null}
      <span class={styles.why}>{why}</span>
    </div>
  );
};

const ratioOf = (tile: LiveTile, camera: Camera | null): number => {
  const { width, height } = tile.report.peek() ?? { width: 0, height: 0 };
  if (width > 0 && height > 0) return width / height;
  return camera !== null && camera.height > 0 ? camera.width / camera.height : 16 / 9;
};

/** A camera's live picture with all that has to be said of it. */
export const LivePicture = ({
  tile,
  camera,
}: {
  readonly tile: LiveTile;
  readonly camera: Camera | null;
}) => {
  const view = tile.view.value;
  const isOld = isAway(badgeCameraOf(camera), view);
  return (
    <>
      <div ref={tile.attach} class={`${styles.host} ${isOld ? styles.old : ''}`} />
      {isOld ? null : <SeenBoxes objects={tile.seen.value} ratio={ratioOf(tile, camera)} />}
      <Notice camera={camera} view={view} />
    </>
  );
};

export const pictureName = (camera: Camera | null, id: string): string =>
  camera === null ? id : nameOf(camera);
