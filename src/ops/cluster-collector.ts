import type { Registry } from 'prom-client';
import { CollectedGauge, line } from './collected.js';
import type { ClusterFigures } from './metrics-source.js';

/** The boxes of a cluster as this one sees them; no series where it is alone. */
export class ClusterCollector {
  readonly #up: CollectedGauge;
  readonly #majority: CollectedGauge;
  readonly #cameras: CollectedGauge;

  constructor(register: Registry) {
    this.#up = new CollectedGauge(register, {
      name: 'svc_cluster_box_up',
      help: '1 if this box hears that one, 0 if it is lost; none for one that ended as it should.',
      labelNames: ['box'],
    });
    this.#majority = new CollectedGauge(register, {
      name: 'svc_cluster_majority',
      help: '1 if this box hears a majority, and may take what others lose.',
    });
    this.#cameras = new CollectedGauge(register, {
      name: 'svc_cluster_cameras',
      help: 'Cameras that this box has; of all cameras, those that no box has, and those that more than one has.',
      labelNames: ['owner'],
    });
  }

  collect(figures: ClusterFigures | null): void {
    this.#up.lines = [...(figures?.boxes ?? [])].map(([box, isUp]) => line(Number(isUp), { box }));
    this.#majority.lines = figures === null ? [] : [line(Number(figures.hasMajority))];
    this.#cameras.lines =
      figures === null
        ? []
        : [
            line(figures.own, { owner: 'this' }),
            line(figures.unowned, { owner: 'none' }),
            line(figures.doubled, { owner: 'several' }),
          ];
  }
}
