import type { Registry } from 'prom-client';
import {
  bucketLabelsOf,
  CollectedCounter,
  CollectedGauge,
  CollectedHistogram,
  histogramLines,
  line,
} from './collected.js';
import type { DetectionFigures } from './metrics-source.js';

const AGE = 'svc_detection_age_seconds';

/** What finding objects costs, and what comes of it. */
export class DetectionCollector {
  readonly #waiting: CollectedGauge;
  readonly #dropped: CollectedCounter;
  readonly #looked: CollectedCounter;
  readonly #failed: CollectedCounter;
  readonly #seconds: CollectedCounter;
  readonly #ages: CollectedHistogram;
  readonly #restarts: CollectedCounter;
  readonly #objects: CollectedCounter;
  readonly #kept: CollectedCounter;
  readonly #lost: CollectedCounter;

  constructor(register: Registry) {
    this.#waiting = new CollectedGauge(register, {
      name: 'svc_detection_waiting',
      help: 'Cameras of which a keyframe is to be looked at for objects.',
    });
    this.#dropped = new CollectedCounter(register, {
      name: 'svc_detection_dropped_total',
      help: 'Keyframes that a newer one of their camera took the place of before they were looked at.',
    });
    this.#looked = new CollectedCounter(register, {
      name: 'svc_detection_pictures_total',
      help: 'Keyframes that were looked at for objects.',
    });
    this.#failed = new CollectedCounter(register, {
      name: 'svc_detection_failures_total',
      help: 'Keyframes that could not be looked at.',
    });
    this.#seconds = new CollectedCounter(register, {
      name: 'svc_detection_seconds_total',
      help: 'Time that keyframes took, waiting for the decoder or the model included.',
      labelNames: ['step'],
    });
    this.#ages = new CollectedHistogram(register, {
      name: AGE,
      help: 'How old a keyframe was when its turn came (taken), and when it was known what is in it (known).',
      labelNames: ['step'],
    });
    this.#restarts = new CollectedCounter(register, {
      name: 'svc_detection_decoder_restarts_total',
      help: 'Decoders that were started in the place of others that died.',
    });
    this.#objects = new CollectedCounter(register, {
      name: 'svc_detections_total',
      help: 'Objects that were found and count, in each picture anew.',
      labelNames: ['label'],
    });
    this.#kept = new CollectedCounter(register, {
      name: 'svc_detections_kept_total',
      help: 'Pictures whose objects were written beside their recordings.',
    });
    this.#lost = new CollectedCounter(register, {
      name: 'svc_detections_lost_total',
      help: 'Recorded pictures whose objects could not be kept: the disk was too slow, or refused.',
    });
  }

  collect(figures: DetectionFigures): void {
    this.#waiting.lines = [line(figures.waiting)];
    this.#dropped.lines = [line(figures.dropped)];
    this.#looked.lines = [line(figures.looked)];
    this.#failed.lines = [line(figures.failed)];
    this.#seconds.lines = [
      line(figures.decodeSec, { step: 'decode' }),
      line(figures.inferSec, { step: 'infer' }),
    ];
    this.#ages.lines = Object.entries(figures.ages).flatMap(([step, spread]) =>
      histogramLines(AGE, bucketLabelsOf(spread.bounds), spread, { step }),
    );
    this.#restarts.lines = [line(figures.decoderRestarts)];
    this.#kept.lines = [line(figures.kept)];
    this.#lost.lines = [line(figures.lost)];
    this.#objects.lines = [...figures.byLabel].map(([label, count]) => line(count, { label }));
  }
}
