import type { Registry } from 'prom-client';
import { CollectedCounter, CollectedGauge, line } from './collected.js';
import type { ClusterFigures } from './metrics-source.js';

/** The boxes of a cluster as this one sees them; no series where it is alone. */
export class ClusterCollector {
  readonly #up: CollectedGauge;
  readonly #majority: CollectedGauge;
  readonly #clock: CollectedGauge;
  readonly #cameras: CollectedGauge;
  readonly #pulls: CollectedGauge;
  readonly #bytes: CollectedCounter;
  readonly #dropped: CollectedCounter;
  readonly #lag: CollectedGauge;

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
    this.#clock = new CollectedGauge(register, {
      name: 'svc_cluster_clock_ahead_seconds',
      help: 'How far the clock of that box is ahead of that of this one; less than 0: behind.',
      labelNames: ['box'],
    });
    this.#cameras = new CollectedGauge(register, {
      name: 'svc_cluster_cameras',
      help: 'Cameras that this box has; of all cameras, those that no box has, and those that more than one has.',
      labelNames: ['owner'],
    });
    this.#pulls = new CollectedGauge(register, {
      name: 'svc_relay_pulls',
      help: 'Streams of cameras that other boxes pull of this one, each box for itself.',
    });
    this.#bytes = new CollectedCounter(register, {
      name: 'svc_relay_bytes_total',
      help: 'Bytes that were sent to other boxes.',
    });
    this.#dropped = new CollectedCounter(register, {
      name: 'svc_relay_dropped_frames_total',
      help: 'Video frames that links to other boxes had no room for.',
    });
    this.#lag = new CollectedGauge(register, {
      name: 'svc_relay_lag_seconds',
      help: 'For how long what the slowest of these links was sent has not been read.',
    });
  }

  collect(figures: ClusterFigures | null): void {
    this.#up.lines = [...(figures?.boxes ?? [])].map(([box, isUp]) => line(Number(isUp), { box }));
    this.#clock.lines = [...(figures?.clocksAheadMs ?? [])].map(([box, ms]) => line(ms / 1_000, { box }));
    this.#majority.lines = figures === null ? [] : [line(Number(figures.hasMajority))];
    this.#cameras.lines =
      figures === null
        ? []
        : [
            line(figures.own, { owner: 'this' }),
            line(figures.unowned, { owner: 'none' }),
            line(figures.doubled, { owner: 'several' }),
          ];
    const relay = figures?.relay;
    this.#pulls.lines = relay === undefined ? [] : [line(relay.pulls)];
    this.#bytes.lines = relay === undefined ? [] : [line(relay.bytes)];
    this.#dropped.lines = relay === undefined ? [] : [line(relay.droppedFrames)];
    this.#lag.lines = relay === undefined ? [] : [line(relay.lagMs / 1_000)];
  }
}
