import { Child } from '../child.js';
import type { GeneratedCameras } from '../ingest-cameras.js';
import { Latencies } from '../latencies.js';
import type { ViewerKind, ViewersQuestion, ViewersReport } from '../viewers/messages.js';
import { ApiPoller } from './api-poller.js';
import { machineSince, readMachine } from './machine-meter.js';
import type { MetricsText } from './metrics-text.js';
import { cpuMsOf, memoryOf } from './process-meter.js';
import type { KindFigures, Losses, Window } from './result.js';
import type { Subject } from './subject.js';

type Crowd = { readonly kind: ViewerKind; readonly process: Child<ViewersQuestion, ViewersReport> };

/** All that is read at a window's start, and again at its end. Each is divided by its own time: a scrape takes long. */
type Reading = {
  readonly metrics: MetricsText | null;
  readonly metricsAtMs: number;
  readonly cameras: Awaited<ReturnType<GeneratedCameras['report']>>;
  readonly viewers: readonly ViewersReport[];
  readonly countedAtMs: number;
  readonly cpuMs: number | null;
  readonly atMs: number;
};

/** What the service and the cameras have counted since they began. */
type Counted = Pick<Reading, 'metrics' | 'cameras'>;

const lossNames: Readonly<Record<keyof Losses, string>> = {
  packetsLost: 'svc_stream_packets_lost_total',
  damagedFrames: 'svc_stream_damaged_frames_total',
  discontinuities: 'svc_stream_discontinuities_total',
  reconnects: 'svc_stream_reconnects_total',
  unrecordedFrames: 'svc_unrecorded_frames_total',
  cutGops: 'svc_ring_cut_gops_total',
  drops: 'svc_buffer_drops_total',
};

const lossesSince = (before: MetricsText, after: MetricsText): Losses => {
  const since = (name: string): number => after.sum(name) - before.sum(name);
  return Object.fromEntries(Object.entries(lossNames).map(([loss, name]) => [loss, since(name)])) as Losses;
};

/** What only the service itself can tell. */
const serviceSince = (before: MetricsText, after: MetricsText) => ({
  mainLag: after.loopLagSince(before, ['main']),
  workerLag: after.loopLagSince(
    before,
    after.threads.filter((thread) => thread !== 'main'),
  ),
  archiveWrites: after.spreadSince(before, 'svc_archive_write_seconds'),
  losses: lossesSince(before, after),
});

/** A server, its cameras and its viewers, each in processes of their own. */
export class Rig {
  readonly #subject: Subject;
  readonly #cameras: GeneratedCameras;
  readonly #crowds: Crowd[] = [];
  readonly #poller: ApiPoller | null;

  readonly #framesPerSecond: number;
  #begun: Counted | null = null;

  constructor(
    subject: Subject,
    cameras: GeneratedCameras,
    options: { readonly apiPerSecond: number; readonly framesPerSecond: number },
  ) {
    this.#subject = subject;
    this.#cameras = cameras;
    this.#framesPerSecond = options.framesPerSecond;
    const { apiPerSecond } = options;
    const { list } = subject;
    this.#poller =
      list === null || apiPerSecond === 0 ? null : new ApiPoller(list.url, list.headers, apiPerSecond);
  }

  /** All cameras stream: what is lost from now on counts, also between the windows. */
  async begin(): Promise<void> {
    this.#begun = await this.#count();
  }

  /** What went missing since then; null: nobody tells. */
  async lost(): Promise<{ readonly losses: Losses | null; readonly skippedFrames: number }> {
    const [before, after] = [this.#begun, await this.#count()];
    const isTold = before !== null && before.metrics !== null && after.metrics !== null;
    return {
      losses: isTold ? lossesSince(before.metrics!, after.metrics!) : null,
      skippedFrames: after.cameras.skippedFrames - (before?.cameras.skippedFrames ?? 0),
    };
  }

  /** Viewers of one kind; resolves when all of them have a picture. */
  async join(kind: ViewerKind, count: number): Promise<void> {
    const targets = await this.#subject.targets(kind, count);
    const process = new Child<ViewersQuestion, ViewersReport>(new URL('../viewers/main.js', import.meta.url));
    this.#crowds.push({ kind, process });
    await process.ask({ type: 'join', kind, targets });
  }

  /** Measures what is there for so long; `onTick` is told how it goes, once a second. */
  async measure(
    name: string,
    added: Window['added'],
    seconds: number,
    onTick: (elapsedSec: number, corePercent: number | null) => void,
  ): Promise<Window> {
    const before = await this.#read('measure');
    const machine = readMachine();
    this.#poller?.begin();
    await this.#wait(seconds, onTick);
    // First what is passing; then what costs the service something.
    const end = { cpuMs: cpuMsOf(this.#subject.pid), atMs: performance.now() };
    const taken = { machine: machineSince(machine), api: this.#poller?.figures ?? null };
    const after = { ...(await this.#read('report')), ...end };
    return { ...this.#window(name, before, after), ...taken, added };
  }

  /** Why viewers ended that should not have. */
  async faults(): Promise<readonly string[]> {
    const reports = await Promise.all(this.#crowds.map(({ process }) => process.ask({ type: 'report' })));
    return reports.flatMap(({ faults }) => faults);
  }

  end(): void {
    this.#poller?.stop();
    for (const { process } of this.#crowds) process.end();
  }

  async #wait(
    seconds: number,
    onTick: (elapsedSec: number, corePercent: number | null) => void,
  ): Promise<void> {
    const startMs = performance.now();
    const endMs = startMs + seconds * 1_000;
    let last = { atMs: startMs, cpuMs: cpuMsOf(this.#subject.pid) };
    for (let nowMs = startMs; nowMs < endMs; ) {
      await new Promise((resolve) => setTimeout(resolve, Math.min(1_000, endMs - nowMs)));
      nowMs = performance.now();
      const cpuMs = cpuMsOf(this.#subject.pid);
      const isKnown = cpuMs !== null && last.cpuMs !== null;
      onTick((nowMs - startMs) / 1_000, isKnown ? ((cpuMs - last.cpuMs!) / (nowMs - last.atMs)) * 100 : null);
      last = { atMs: nowMs, cpuMs };
    }
  }

  async #count(): Promise<Counted> {
    const [metrics, cameras] = await Promise.all([this.#subject.metrics(), this.#cameras.report()]);
    return { metrics, cameras };
  }

  /** At a window's start the scrape is first, and at its end last: it costs the service something. */
  async #read(question: 'measure' | 'report'): Promise<Reading> {
    const scrape = async () => ({ metrics: await this.#subject.metrics(), metricsAtMs: performance.now() });
    const count = async () => {
      const [cameras, viewers] = await Promise.all([
        this.#cameras.report(),
        Promise.all(this.#crowds.map(({ process }) => process.ask({ type: question }))),
      ]);
      return { cameras, viewers, countedAtMs: performance.now() };
    };
    const first = question === 'measure' ? await scrape() : null;
    const counted = await count();
    const scraped = first ?? (await scrape());
    return { ...scraped, ...counted, cpuMs: cpuMsOf(this.#subject.pid), atMs: performance.now() };
  }

  #window(name: string, before: Reading, after: Reading): Omit<Window, 'added' | 'api' | 'machine'> {
    const seconds = (after.atMs - before.atMs) / 1_000;
    const countedSec = (after.countedAtMs - before.countedAtMs) / 1_000;
    const service =
      before.metrics === null || after.metrics === null ? null : serviceSince(before.metrics, after.metrics);
    return {
      name,
      seconds,
      cpuMsPerSec: this.#cpuMsPerSec(before, after),
      threadCpuMsPerSec: threadsSince(before, after),
      ...memoryOf(this.#subject.pid),
      mainLag: service?.mainLag ?? null,
      workerLag: service?.workerLag ?? null,
      archiveWrites: service?.archiveWrites ?? null,
      losses: service?.losses ?? null,
      cameras: {
        frames: after.cameras.frames - before.cameras.frames,
        framesDue: Math.round(after.cameras.playing * this.#framesPerSecond * countedSec),
        lateFrames: after.cameras.lateFrames - before.cameras.lateFrames,
        skippedFrames: after.cameras.skippedFrames - before.cameras.skippedFrames,
        cpuMsPerSec: (after.cameras.cpuMs - before.cameras.cpuMs) / countedSec,
      },
      viewers: this.#crowds.map(({ kind }, index) =>
        figuresOf(kind, before.viewers[index]!, after.viewers[index]!, countedSec),
      ),
    };
  }

  /** Where the system doesn't tell, the service's own account of it. */
  #cpuMsPerSec(before: Reading, after: Reading): number | null {
    if (before.cpuMs !== null && after.cpuMs !== null)
      return ((after.cpuMs - before.cpuMs) / (after.atMs - before.atMs)) * 1_000;
    if (before.metrics === null || after.metrics === null) return null;
    const name = 'process_cpu_seconds_total';
    return ((after.metrics.sum(name) - before.metrics.sum(name)) * 1_000) / scrapedSec(before, after);
  }
}

const scrapedSec = (before: Reading, after: Reading): number =>
  (after.metricsAtMs - before.metricsAtMs) / 1_000;

const threadsSince = (before: Reading, after: Reading): Record<string, number> => {
  const seconds = scrapedSec(before, after);
  const name = 'svc_thread_cpu_seconds_total';
  const earlier = before.metrics?.by(name, 'thread');
  return Object.fromEntries(
    [...(after.metrics?.by(name, 'thread') ?? [])].map(([thread, cpuSeconds]) => [
      thread,
      ((cpuSeconds - (earlier?.get(thread) ?? 0)) * 1_000) / seconds,
    ]),
  );
};

const figuresOf = (
  kind: ViewerKind,
  before: ViewersReport,
  after: ViewersReport,
  seconds: number,
): KindFigures => ({
  kind,
  viewers: after.viewers,
  frames: after.frames,
  lostFrames: after.lostFrames,
  lostPackets: after.lostPackets,
  mbitPerSec: (after.bytes * 8) / 1e6 / seconds,
  latency: Latencies.of(after.latencies).summary(),
  reload: kind === 'hls' ? Latencies.of(after.reloads).summary() : null,
  firstPicture: Latencies.of(after.firstPictures).summary(),
  cpuMsPerSec: (after.cpuMs - before.cpuMs) / seconds,
});
