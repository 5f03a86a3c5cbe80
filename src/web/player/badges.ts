import type { TileView } from './tile-view.js';

/** What of a camera decides what is said of its tile. */
export type BadgeCamera = {
  readonly state: string;
  readonly recording: boolean;
  /** Why what it sends isn't recorded though it is to be; "" where all is well. */
  readonly recordError: string;
  readonly hasSub: boolean;
};

export type BadgeKind =
  | 'live'
  | 'sub'
  | 'keyframes'
  | 'still'
  | 'compatible'
  | 'stalled'
  | 'away'
  | 'standby'
  | 'recording'
  | 'unrecorded';

export const AWAY_STATES: readonly string[] = [
  'connecting',
  'reconnecting',
  'error',
  'disabled',
  'traffic_limited',
];

/** The camera gives no picture, or this page gets none. */
export const isAway = (camera: BadgeCamera | null, view: TileView): boolean =>
  view.freshness === 'old' ||
  (view.freshness !== 'live' &&
    ((camera !== null && AWAY_STATES.includes(camera.state)) || view.problem !== null));

/** What is said of a tile, the most important first. Never `live` of what isn't. */
export const badgesOf = (camera: BadgeCamera | null, view: TileView): readonly BadgeKind[] => {
  const badges: BadgeKind[] = [];
  if (isAway(camera, view)) badges.push('away');
  else if (camera?.state === 'standby' && view.freshness === 'waiting') badges.push('standby');
  else if (view.freshness === 'stalled') badges.push('stalled');
  else if (view.freshness === 'live' && view.rung !== 'stills') badges.push('live');
  const isShown = view.freshness === 'live' || view.freshness === 'stalled';
  if (isShown && view.rung === 'stills') badges.push('still');
  else if (isShown && view.rung !== 'webcodecs') badges.push('compatible');
  if (isShown && view.isKeysOnly && view.rung !== 'stills') badges.push('keyframes');
  if (isShown && view.stream === 'sub' && camera?.hasSub === true) badges.push('sub');
  // A full disk takes something once a while: that is no recording.
  if (camera !== null && camera.recordError !== '') badges.push('unrecorded');
  else if (camera?.recording === true) badges.push('recording');
  return badges;
};
