import { isCluster } from '../../data/boxes.js';
import type { Camera } from '../../data/types.js';
import { reasonText } from '../../player/live-picture.js';
import type { LiveTile } from '../../player/live-tile.js';
import { cameraText } from '../../text/wall.js';
import styles from './camera.module.css';

const whole = (value: number): string => String(Math.round(value));

const rowsOf = (tile: LiveTile, camera: Camera | null): readonly (readonly [string, string])[] => {
  const view = tile.view.value;
  const report = tile.report.value;
  const lag = view.lagMs === null ? cameraText('unknown') : `${(view.lagMs / 1_000).toFixed(1)} s`;
  const path = cameraText(view.rung) + (view.reason === null ? '' : ` (${reasonText(view.reason)})`);
  const owner = camera?.owner ?? '';
  const common: readonly (readonly [string, string])[] = [
    [cameraText('statPath'), `${path}, ${view.stream}`],
    ...(isCluster.value ? [[cameraText('statBox'), owner || cameraText('noBox')] as const] : []),
  ];
  if (report === null || !tile.isBySocket)
    return [
      ...common,
      [cameraText('statCodec'), camera?.codec ?? ''],
      [cameraText('statSize'), camera?.resolution ?? ''],
    ];
  return [
    ...common,
    [cameraText('statCodec'), report.codec],
    [cameraText('statSize'), `${report.width} × ${report.height}`],
    [cameraText('statFps'), report.fps.toFixed(1)],
    [cameraText('statRate'), `${whole(report.kbits)} kbit/s`],
    [cameraText('statLag'), lag],
    [cameraText('statAdded'), `${whole(report.lagP50Ms)} / ${whole(report.lagP95Ms)} ms`],
    [cameraText('statQueue'), String(report.queued)],
    [
      cameraText('statPaced'),
      report.pacedMs === null ? cameraText('unknown') : `${whole(report.pacedMs)} ms`,
    ],
    [cameraText('statLost'), `${report.lost} / ${report.skipped}`],
    [cameraText('statKey'), `${(report.keyDistanceMs / 1_000).toFixed(1)} s`],
    [cameraText('statRebuilds'), String(report.rebuilds)],
    [cameraText('statDecoder'), cameraText(report.isSoftware ? 'software' : 'hardware')],
  ];
};

/** How the pictures come, in numbers: for who wants to know why they come so. */
export const Figures = ({ tile, camera }: { readonly tile: LiveTile; readonly camera: Camera | null }) => (
  <dl class={styles.figures}>
    {rowsOf(tile, camera).map(([name, value]) => (
      <div key={name}>
        <dt>{name}</dt>
        <dd>{value}</dd>
      </div>
    ))}
  </dl>
);
