import { Counter, Histogram, Registry } from 'prom-client';
import type { Clock } from '../base/clock.js';
import { Slices } from '../base/slices.js';
import { ClusterCollector } from './cluster-collector.js';
import {
  bucketLabelsOf,
  CollectedCounter,
  CollectedGauge,
  CollectedHistogram,
  histogramLines,
  line,
} from './collected.js';
import { DetectionCollector } from './detection-collector.js';
import type { MetricsSource } from './metrics-source.js';
import { NoticeCollector } from './notice-collector.js';
import { ProcessCollector } from './process-collector.js';
import { StoreCollector } from './store-collector.js';
import { StreamCollector } from './stream-collector.js';

const ARCHIVE_WRITES = 'svc_archive_write_seconds';
const REQUEST_BUCKETS_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']);

/** Why a login was turned down: wrong name or password, or too many of those. */
export type LoginFailure = 'credentials' | 'limited';

/** All metrics of the service, in a registry of their own. Collecting costs nothing between two scrapes. */
export class Metrics {
  readonly #clock: Clock;
  readonly #source: MetricsSource;
  readonly #register = new Registry();
  readonly #streams: StreamCollector;
  readonly #detection: DetectionCollector;
  readonly #notices: NoticeCollector;
  readonly #store: StoreCollector;
  readonly #cluster: ClusterCollector;
  readonly #onvifEvents: CollectedGauge;
  readonly #process: ProcessCollector;
  readonly #free: CollectedGauge;
  readonly #total: CollectedGauge;
  readonly #brokenFiles: CollectedGauge;
  readonly #brokenBytes: CollectedGauge;
  readonly #archiveWrites: CollectedHistogram;
  readonly #eventRecordings: CollectedCounter;
  readonly #components: CollectedGauge;
  readonly #eventReaders: CollectedGauge;
  readonly #events: CollectedCounter;
  readonly #threadsLost: CollectedCounter;
  readonly #ringBudget: CollectedGauge;
  readonly #ringUsed: CollectedGauge;
  readonly #ringCeiling: CollectedGauge;
  readonly #pictures: CollectedCounter;
  readonly #pictureFailures: CollectedCounter;
  readonly #picturesWaiting: CollectedGauge;
  readonly #requests: Histogram;
  readonly #loginFailures: Counter;
  #making: Promise<string> | null = null;

  constructor(version: string, deps: { clock: Clock; source: MetricsSource }) {
    this.#clock = deps.clock;
    this.#source = deps.source;
    this.#streams = new StreamCollector(this.#register, deps.clock);
    this.#detection = new DetectionCollector(this.#register);
    this.#notices = new NoticeCollector(this.#register);
    this.#store = new StoreCollector(this.#register);
    this.#cluster = new ClusterCollector(this.#register);
    this.#onvifEvents = new CollectedGauge(this.#register, {
      name: 'svc_onvif_event_cameras',
      help: 'Cameras whose ONVIF pull point tells what they notice (heard), and those that are to be heard so and are not (missed).',
      labelNames: ['state'],
    });
    this.#free = new CollectedGauge(this.#register, {
      name: 'svc_storage_free_bytes',
      help: 'Room that is left for recordings; absent while the file system does not answer.',
    });
    this.#total = new CollectedGauge(this.#register, {
      name: 'svc_storage_total_bytes',
      help: 'Size of the file system that holds the recordings.',
    });
    this.#brokenFiles = new CollectedGauge(this.#register, {
      name: 'svc_broken_recordings',
      help: 'Recordings that were moved aside, since nothing in them can be played; they leave by their age.',
    });
    this.#brokenBytes = new CollectedGauge(this.#register, {
      name: 'svc_broken_recordings_bytes',
      help: 'Room that the recordings take that were moved aside.',
    });
    this.#archiveWrites = new CollectedHistogram(this.#register, {
      name: ARCHIVE_WRITES,
      help: 'Time from when frames were to be written to a recording until the file system had taken them.',
    });
    this.#eventRecordings = new CollectedCounter(this.#register, {
      name: 'svc_event_recordings_total',
      help: 'Recordings of cameras recorded by events: cut, deleted as of no event, or whole since unreadable.',
      labelNames: ['outcome'],
    });
    this.#components = new CollectedGauge(this.#register, {
      name: 'svc_component_up',
      help: '1 while the component that readiness depends on is well, else 0.',
      labelNames: ['component'],
    });
    this.#eventReaders = new CollectedGauge(this.#register, {
      name: 'svc_event_readers',
      help: 'Clients that are told of what happens.',
    });
    this.#events = new CollectedCounter(this.#register, {
      name: 'svc_events_total',
      help: 'Events while somebody read them, each counted once however many did.',
      labelNames: ['topic'],
    });
    this.#threadsLost = new CollectedCounter(this.#register, {
      name: 'svc_camera_threads_lost_total',
      help: 'Threads of cameras that died, or hung and were ended; their cameras went on in others.',
      labelNames: ['cause'],
    });
    this.#ringBudget = new CollectedGauge(this.#register, {
      name: 'svc_ring_budget_bytes',
      help: 'RING_MEMORY_MB: what the rings of all cameras may take together.',
    });
    this.#ringUsed = new CollectedGauge(this.#register, {
      name: 'svc_ring_memory_bytes',
      help: 'What the rings of all cameras take.',
    });
    this.#ringCeiling = new CollectedGauge(this.#register, {
      name: 'svc_ring_ceiling_bytes',
      help: 'How large one ring may be now; it falls when all of them want more than the budget.',
    });
    this.#pictures = new CollectedCounter(this.#register, {
      name: 'svc_pictures_decoded_total',
      help: 'Keyframes that were decoded for snapshots.',
    });
    this.#pictureFailures = new CollectedCounter(this.#register, {
      name: 'svc_picture_failures_total',
      help: 'Keyframes of which no picture could be made.',
      labelNames: ['reason'],
    });
    this.#picturesWaiting = new CollectedGauge(this.#register, {
      name: 'svc_pictures_waiting',
      help: 'Snapshots that wait until others are decoded.',
    });
    this.#requests = new Histogram({
      name: 'svc_http_request_duration_seconds',
      help: 'Time from a request to the end of its answer.',
      labelNames: ['route', 'method', 'status'],
      buckets: REQUEST_BUCKETS_SECONDS,
      registers: [this.#register],
    });
    this.#loginFailures = new Counter({
      name: 'svc_login_failures_total',
      help: 'Logins turned down.',
      labelNames: ['reason'],
      registers: [this.#register],
    });
    // A rate needs a first value to rise from.
    this.#loginFailures.inc({ reason: 'credentials' }, 0);
    this.#loginFailures.inc({ reason: 'limited' }, 0);
    const startedAtMs = deps.clock.wallMs() - process.uptime() * 1000;
    this.#process = new ProcessCollector(this.#register, { version, startedAtMs });
  }

  /** The content type of `exposition`. */
  get contentType(): string {
    return this.#register.contentType;
  }

  /**
   * Counts a request. `route` is the template (`/api/cameras/:id`) or one word for all that match none, never
   * the path itself: each value is a set of series that stays.
   */
  requestDone(route: string, method: string, status: number, durationSeconds: number): void {
    this.#requests.observe(
      { route, method: methods.has(method) ? method : 'other', status: `${Math.floor(status / 100)}xx` },
      durationSeconds,
    );
  }

  loginFailed(reason: LoginFailure): void {
    this.#loginFailures.inc({ reason });
  }

  /** All metrics as of now, in the text format: made once for all who ask meanwhile. */
  exposition(): Promise<string> {
    this.#making ??= this.#make().finally(() => {
      this.#making = null;
    });
    return this.#making;
  }

  async #make(): Promise<string> {
    const [components, storage] = await Promise.all([this.#source.components(), this.#source.storage()]);
    this.#components.lines = Object.entries(components).map(([component, isUp]) =>
      line(Number(isUp), { component }),
    );
    this.#free.lines = storage === null ? [] : [line(storage.freeBytes)];
    this.#total.lines = storage === null ? [] : [line(storage.totalBytes)];
    const { files, bytes } = this.#source.brokenRecordings();
    this.#brokenFiles.lines = [line(files)];
    this.#brokenBytes.lines = [line(bytes)];
    const writes = this.#source.archiveWrites();
    this.#archiveWrites.lines = histogramLines(ARCHIVE_WRITES, bucketLabelsOf(writes.bounds), writes, {});
    this.#eventRecordings.lines = Object.entries(this.#source.eventRecording()).map(([outcome, count]) =>
      line(count, { outcome }),
    );
    const { readers, told } = this.#source.events();
    this.#eventReaders.lines = [line(readers)];
    this.#events.lines = Object.entries(told).map(([topic, count]) => line(count, { topic }));
    this.#collectFleet();
    this.#collectPictures();
    this.#detection.collect(this.#source.detection());
    this.#notices.collect(this.#source.notices());
    this.#store.collect(this.#source.store());
    this.#cluster.collect(this.#source.cluster());
    this.#onvifEvents.lines = Object.entries(this.#source.onvifEvents()).map(([state, count]) =>
      line(count, { state }),
    );
    this.#process.collect(this.#source.threads);
    // Hundreds of cameras are a megabyte of text, which takes as long as several frames of theirs are on their way.
    const slices = new Slices(this.#clock);
    await this.#streams.collect(this.#source.cameras(), slices);
    const texts: string[] = [];
    for (const { name } of this.#register.getMetricsAsArray()) {
      if (slices.isUsedUp) await slices.next();
      texts.push(await this.#register.getSingleMetricAsString(name));
    }
    return `${texts.join('\n\n')}\n`;
  }

  #collectFleet(): void {
    const { threadsLost, rings } = this.#source.fleet();
    this.#threadsLost.lines = Object.entries(threadsLost).map(([cause, count]) => line(count, { cause }));
    this.#ringBudget.lines = [line(rings.budgetBytes)];
    this.#ringUsed.lines = [line(rings.usedBytes)];
    this.#ringCeiling.lines = [line(rings.ceilingBytes)];
  }

  #collectPictures(): void {
    const { decoded, failed, waiting } = this.#source.pictures();
    this.#pictures.lines = [line(decoded)];
    this.#pictureFailures.lines = Object.entries(failed).map(([reason, count]) => line(count, { reason }));
    this.#picturesWaiting.lines = [line(waiting)];
  }
}
