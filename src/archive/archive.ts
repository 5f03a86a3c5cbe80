import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import { ArchiveRequests } from './archive-requests.js';
import type { ArchiveRoot } from './archive-root.js';
import { Exports, type ExportsDeps } from './bundle/exports.js';
import { DetectionKeeper } from './detections/detection-keeper.js';
import { KeptDetections } from './detections/kept-detections.js';
import { FactsKeeper } from './facts/facts-keeper.js';
import type { FilesInProgress } from './files/file-progress.js';
import { Frames } from './frames/frames.js';
import {
  ASKED,
  BACKGROUND,
  FOREGROUND,
  JobPool,
  LISTS,
  STORED,
  type ThreadRegister,
} from './jobs/job-pool.js';
import type { JobRunner } from './jobs/jobs.js';
import { StoredRunner } from './jobs/stored-runner.js';
import type { ProtectedSpan } from './keep/delete-files.js';
import { Deleting } from './keep/deleting.js';
import { EventRecording, type EventRecordingDeps } from './keep/event-recording.js';
import { type LiveFiles, Recovery } from './keep/recovery.js';
import { Retention, type RetentionRule, type TimeMemory } from './keep/retention.js';
import type { GapReason } from './list/intervals.js';
import type { Maker, Recording } from './list/recording.js';
import { Recordings } from './list/recordings.js';
import { Timeline } from './list/timeline.js';
import type { ClusterNow, CopierSetup } from './offsite/messages.js';
import { Offsite, spawnCopier } from './offsite/offsite.js';
import type { Others, OthersTools } from './others/others.js';
import { KeyFrames } from './play/key-frames.js';
import { RecordingLocator } from './play/locator.js';
import { Playback } from './play/playback.js';
import { SubtitleTrack, type SubtitleTrackDeps } from './play/subtitle-track.js';

export type ArchiveOptions = {
  readonly archiveDir: string;
  /** Where what recordings say of themselves is kept: it may be thrown away at any time. */
  readonly factsDir: string;
  readonly minFreePercent: number;
  /** Where it is written what is in the stores that recordings are copied to, or were. */
  readonly storesDir: string;
  /** The name of this box. */
  readonly box: string;
  /** Where closed recordings are copied to; null: nowhere. */
  readonly store:
    | (Pick<CopierSetup, 'address' | 'ca' | 'copiesDir' | 'mbit'> & {
        readonly localDays: number | null;
      })
    | null;
};

export type ArchiveDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly root: Pick<ArchiveRoot, 'fault' | 'start'> & {
    readonly state: Pick<ArchiveRoot['state'], 'memory'>;
  };
  /** Where the threads of jobs are counted. */
  readonly threads: ThreadRegister;
  /** Which files recorders have open now, and how far they are. */
  readonly live: LiveFiles & FilesInProgress;
  /** By which claim this box had a camera at some time. */
  readonly epochsOf: Maker['epochsOf'];
  /** How long each camera's recordings are kept. */
  readonly rules: () => readonly RetentionRule[];
  /** Times whose recordings stay, whatever their age; null: nobody knows now. */
  readonly spared?: () => readonly ProtectedSpan[] | null;
  /** Of which cameras only what lies around events is kept, and when events were. */
  readonly byEvents: Pick<EventRecordingDeps, 'cameraIds' | 'times' | 'isLasting' | 'watched' | 'memory'>;
  /** What time deletions went by last. */
  readonly memory: TimeMemory;
  /** Nothing is left of a camera that was deleted. */
  readonly onGone: (cameraId: string) => void;
  /** Why a camera is not being recorded now; null: it is. */
  readonly whyNot: (cameraId: string) => GapReason | null;
  readonly hold: ExportsDeps['hold'];
  readonly cueText: SubtitleTrackDeps['cueText'];
  /** Makes what knows of other boxes' recordings; null: this one is alone. */
  readonly others: ((tools: OthersTools) => Others) | null;
  /** Of a box that is one of several: who is here, and what this one has. */
  readonly cluster?: (() => ClusterNow) | undefined;
};

type OwnParts = {
  readonly recordings: Recordings;
  readonly deletions: Deleting;
  readonly runner: JobRunner;
};

const none: Promise<readonly Recording[]> = Promise.resolve([]);

/** The main thread's side of the archive: all of it but the recorders, with the threads that its disk work needs. */
export class Archive {
  /** For whoever asks from outside. */
  readonly requests: ArchiveRequests;
  readonly exports: Exports;
  readonly recovery: Recovery;
  readonly retention: Retention;
  /** What is seen while recordings are made. */
  readonly detections: DetectionKeeper;
  readonly byEvents: EventRecording;
  readonly facts: FactsKeeper;
  /** Null: recordings are copied nowhere. */
  readonly offsite: Offsite | null;
  /** Null: this box is alone. */
  readonly others: Others | null;
  readonly #log: Logger;
  readonly #root: ArchiveDeps['root'];
  readonly #foreground: JobPool;
  /** Null: recordings are on the disk alone. */
  readonly #stored: JobPool | null;
  readonly #repairs: JobPool;
  readonly #deletions: JobPool;
  readonly #appends: JobPool;
  /** For what boxes are asked, what they ask, and what is written of them. */
  readonly #ofBoxes: { readonly asking: JobPool; readonly asked: JobPool; readonly lists: JobPool } | null;

  constructor(options: ArchiveOptions, deps: ArchiveDeps) {
    const { clock, log, live, hold, memory, onGone, root, rules, threads, whyNot } = deps;
    this.#log = log;
    this.#root = root;
    // Jobs go by paths: they must touch nothing that took the archive's place, be it while they waited.
    const pool = { clock, threads, whyNot: () => root.fault };
    this.#foreground = new JobPool(FOREGROUND, pool);
    const deleter = new JobPool(BACKGROUND, pool);
    this.#repairs = new JobPool(BACKGROUND, pool);
    this.#deletions = deleter;
    this.#appends = new JobPool(BACKGROUND, pool);
    const { store, box } = options;
    this.offsite = this.#openOffsite(options, deps);
    const copies = this.offsite ?? undefined;
    this.#stored = this.offsite && new JobPool(STORED, pool);
    this.#ofBoxes =
      deps.others === null
        ? null
        : {
            asking: new JobPool(STORED, pool),
            asked: new JobPool(ASKED, pool),
            lists: new JobPool(LISTS, pool),
          };
    const asking = { store: this.#stored, boxes: this.#ofBoxes?.asking ?? null };
    const runner = new StoredRunner(this.#foreground, asking);
    this.detections = new DetectionKeeper(options, { clock, log, runner: this.#appends });
    this.facts = new FactsKeeper(options, { clock, runner: this.#repairs });
    const recordings = new Recordings(options, {
      ...{ runner, live, copies },
      facts: this.facts,
      maker: { box, epochsOf: deps.epochsOf },
      ...(deps.others && {
        others: {
          of: (...what) => this.others?.of(...what) ?? none,
          unheard: (cameraId) => this.others?.unheard(cameraId) ?? [],
        },
      }),
    });
    const timeline = new Timeline({ clock, recordings, whyNot });
    const locator = new RecordingLocator(options, { recordings, runner });
    const playback = new Playback({ locator, runner, clock });
    const keyFrames = new KeyFrames({ locator, runner });
    const frames = new Frames({ clock, locator, runner, whyNot });
    const detections = new KeptDetections(options, { recordings, runner });
    const stores = { storesDir: options.storesDir, copiesDir: store?.copiesDir ?? null };
    const deletions = new Deleting(
      { ...options, stores },
      {
        ...{ recordings, runner: deleter, log, copies },
        ...(deps.others && { others: { deleteWithin: (...what) => this.others!.deleteWithin(...what) } }),
      },
    );
    this.others =
      deps.others === null ? null : deps.others(this.#toolsFor({ recordings, deletions, runner }));
    this.requests = new ArchiveRequests({
      clock,
      recordings,
      timeline,
      playback,
      keyFrames,
      frames,
      deletions,
      detections,
      subtitles: new SubtitleTrack({ locator, runner, clock, detections, cueText: deps.cueText }),
    });
    this.exports = new Exports({
      clock,
      clipOf: ({ cameraId, fromMs, toMs }, username) => playback.pinnedClip(cameraId, fromMs, toMs, username),
      gapsOf: async ({ cameraId, fromMs, toMs }) =>
        (await this.requests.intervals(cameraId, fromMs, toMs)).gaps,
      subtitlesOf: (cameraId, span, maxBytes) => this.requests.clipSubtitles(cameraId, span, maxBytes),
      hold,
    });
    this.recovery = new Recovery(options, {
      ...{ clock, log, live },
      ...{ runner: this.#repairs, quickRunner: runner },
    });
    this.retention = new Retention(
      { ...options, stores },
      {
        ...{ clock, log, live, memory, onGone, rules, copies, cluster: deps.cluster },
        times: deps.byEvents.times,
        ...(deps.spared === undefined ? {} : { spared: deps.spared }),
        runner: deleter,
      },
    );
    this.byEvents = new EventRecording(options, {
      ...{ clock, log, runner: deleter },
      spared: deps.spared ?? (() => []),
      ...deps.byEvents,
    });
    this.recovery.repairing.on((cameraId, fileName) => this.byEvents.keepLeft(cameraId, fileName));
  }

  #openOffsite({ store, box, archiveDir }: ArchiveOptions, deps: ArchiveDeps): Offsite | null {
    if (store === null) return null;
    const { clock, log, threads, root, epochsOf } = deps;
    const isShared = deps.others !== null;
    const setup = { ...store, box, isShared, archiveDir, root: root.state.memory };
    return new Offsite(setup, store.localDays, {
      ...{ clock, log, threads, spawn: spawnCopier },
      held: () => this.byEvents.undecided(),
      epochAt: (cameraId, startMs) => epochsOf(cameraId)(startMs),
    });
  }

  #toolsFor({ recordings, deletions, runner }: OwnParts): OthersTools {
    const { asked, lists } = this.#ofBoxes!;
    const own: OthersTools['own'] = {
      here: (cameraId) => recordings.here(cameraId),
      deleteHere: (...what) => deletions.deleteHere(...what),
    };
    return { own, runner, asked, background: lists };
  }

  /** Collects what was left open, which must be done before recorders begin, and goes on with the rest. */
  async start(): Promise<void> {
    await this.#root.start(async () => {
      this.retention.archiveFound();
      await this.recovery.collect();
      void this.recovery.repairAll();
      this.facts.start();
    });
    // It is told of what is due at the first sweep.
    this.offsite?.start();
    this.others?.start();
    this.retention.start();
    this.byEvents.start();
  }

  /** Begins nothing any more, and ends the threads, unless they hang. */
  async stop(): Promise<void> {
    this.exports.stop();
    this.recovery.stop();
    this.retention.stop();
    this.byEvents.stop();
    this.facts.stop();
    await this.offsite?.stop();
    await this.others?.stop();
    await this.detections.stop();
    const always = [
      this.#foreground,
      this.#repairs,
      this.#deletions,
      this.#appends,
      ...Object.values(this.#ofBoxes ?? {}),
    ];
    const pools = this.#stored === null ? always : [...always, this.#stored];
    const ended = await Promise.all(pools.map((pool) => pool.stop()));
    if (ended.includes(false))
      this.#log.warn("the archive's disk does not answer; its threads are left behind");
  }
}
