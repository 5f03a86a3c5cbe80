import type { Registry } from 'prom-client';
import type { Clock } from '../base/clock.js';
import type { Slices } from '../base/slices.js';
import { type Collected, CollectedCounter, CollectedGauge, type Line, line } from './collected.js';
import type { CameraFigures } from './metrics-source.js';
import { MonotonicCount } from './monotonic-count.js';
import { type StreamMetric, streamMetrics } from './stream-series.js';

/** The lines of one camera, made once and filled anew at each scrape. */
type CameraLines = {
  readonly lines: readonly Line[];
  readonly counts: readonly (MonotonicCount | null)[];
  state: Line;
  stateName: string;
  scrape: number;
};

const labelsOf = (cameraId: string, metric: StreamMetric, labelValue: string): Record<string, string> =>
  metric.label === null ? { camera_id: cameraId } : { camera_id: cameraId, [metric.label]: labelValue };

/** Declares the metrics of the cameras and fills them at a scrape. */
export class StreamCollector {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #metrics: readonly Collected[];
  readonly #state: Collected;
  readonly #cameras = new Map<string, CameraLines>();
  #scrapes = 0;

  constructor(register: Registry, clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
    this.#metrics = streamMetrics.map((metric) => {
      const declaration = {
        name: metric.name,
        help: metric.help,
        labelNames: metric.label === null ? ['camera_id'] : ['camera_id', metric.label],
      };
      return metric.kind === 'counter'
        ? new CollectedCounter(register, declaration)
        : new CollectedGauge(register, declaration);
    });
    this.#state = new CollectedGauge(register, {
      name: 'svc_stream_state',
      help: '1 for the state that the camera is in; its other states have no series.',
      labelNames: ['camera_id', 'state'],
    });
  }

  /** Replaces all lines by those of the cameras that there are now; one at a time. */
  async collect(cameras: Iterable<CameraFigures>, slices: Slices): Promise<void> {
    this.#scrapes++;
    for (const metric of this.#metrics) metric.lines = [];
    this.#state.lines = [];
    for (const camera of cameras) {
      this.#collectCamera(camera, this.#clock.monotonicMs());
      if (slices.isUsedUp) await slices.next();
    }
    for (const [cameraId, { scrape }] of this.#cameras) {
      if (scrape !== this.#scrapes) this.#cameras.delete(cameraId);
    }
  }

  #collectCamera(camera: CameraFigures, nowMs: number): void {
    const known = this.#cameras.get(camera.cameraId) ?? this.#linesFor(camera);
    known.scrape = this.#scrapes;
    let index = 0;
    for (let at = 0; at < streamMetrics.length; at++) {
      const { lines } = this.#metrics[at]!;
      for (const { read } of streamMetrics[at]!.series) {
        const line = known.lines[index]!;
        const count = known.counts[index++]!;
        const figure = read(camera, nowMs);
        if (count === null && figure === null) continue;
        line.value = count === null ? (figure ?? 0) : count.take(figure);
        lines.push(line);
      }
    }
    if (known.stateName !== camera.state) {
      known.stateName = camera.state;
      known.state = line(1, { camera_id: camera.cameraId, state: camera.state });
    }
    this.#state.lines.push(known.state);
  }

  #linesFor({ cameraId, state }: CameraFigures): CameraLines {
    const lines: Line[] = [];
    const counts: (MonotonicCount | null)[] = [];
    // Metrics that have the same labels share the object that holds them, and so the text that it becomes.
    const shared = new Map<string, Record<string, string>>();
    for (const metric of streamMetrics) {
      for (const { labelValue } of metric.series) {
        const key = `${metric.label}=${labelValue}`;
        const labels = shared.get(key) ?? labelsOf(cameraId, metric, labelValue);
        shared.set(key, labels);
        lines.push(line(0, labels));
        counts.push(metric.kind === 'counter' ? new MonotonicCount() : null);
      }
    }
    const made = {
      lines,
      counts,
      state: line(1, { camera_id: cameraId, state }),
      stateName: state,
      scrape: 0,
    };
    this.#cameras.set(cameraId, made);
    return made;
  }
}
