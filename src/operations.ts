import { uptime } from 'node:os';
import type { Clock } from './base/clock.js';
import type { Signal } from './base/signal.js';
import { storeQueueOf } from './cluster-facts.js';
import type { Config } from './config.js';
import type { Detecting } from './detect/detecting.js';
import type { EventHub } from './events/event-hub.js';
import type { Media } from './media.js';
import type { Notices } from './notices.js';
import { ArchiveProbe } from './ops/archive-probe.js';
import { Health } from './ops/health.js';
import { History } from './ops/history.js';
import { historySeries } from './ops/history-series.js';
import { Metrics } from './ops/metrics.js';
import { Stats } from './ops/stats.js';
import type { Threads } from './ops/threads.js';
import type { Storage } from './storage.js';

export type OperationsDeps = {
  readonly clock: Clock;
  readonly version: string;
  readonly threads: Threads;
  readonly events: EventHub;
  readonly detecting: Detecting;
  readonly notices: Notices;
};

/** What is seen of the service from outside. */
export type Operations = {
  readonly health: Health;
  readonly metrics: Metrics;
  readonly stats: Stats;
  readonly history: History;
};

/** Asking the disk costs a thread of the pool for a moment. */
const BEATS_PER_LOOK = 10;

/** The room that is left, looked at now and then. */
const freeBytesOf = (probe: ArchiveProbe, beat: Signal): (() => number) => {
  let beats = 0;
  let freeBytes = Number.NaN;
  beat.on(() => {
    if (beats++ % BEATS_PER_LOOK !== 0) return;
    void probe.storage().then((storage) => {
      freeBytes = storage?.freeBytes ?? Number.NaN;
    });
  });
  return () => freeBytes;
};

/** The service does what it should without its store. */
const storeRemark = ({ offsite }: Media['archive']): Readonly<Record<string, string>> | null => {
  if (offsite === null) return null;
  const { fault, deletionFault, state } = offsite;
  if (fault !== null) return { archive_s3: `${fault}; ${state?.waiting ?? 0} recordings wait` };
  if (deletionFault !== null) return { archive_s3: `nothing is deleted there: ${deletionFault}` };
  const fileFault = state?.fileFault ?? null;
  return { archive_s3: fileFault === null ? 'ok' : `a recording can't be copied: ${fileFault}` };
};

/** Cameras go on as they are without the others. */
const clusterRemark = (cluster: Storage['cluster']): Readonly<Record<string, string>> | null =>
  cluster === null ? null : { cluster: cluster.fault ?? 'ok' };

/** Builds what watches over the service. */
export const buildOperations = (
  config: Config,
  { clock, version, threads, events, detecting, notices }: OperationsDeps,
  { store, root, cluster }: Storage,
  { registry, archive, desk, pictures, eventCameras, relay, beat, storageFault }: Media,
): Operations => {
  const probe = new ArchiveProbe(config.archiveDir, { clock, root });
  // A disk that takes a small file may still have no room for a second of video.
  const archiveFault = async (): Promise<string> => {
    const seen = await probe.check();
    return seen === 'ok' ? (desk.fault ?? 'ok') : seen;
  };
  const health = new Health(
    {
      database: async () => store.writeFault() ?? 'ok',
      archive: archiveFault,
      router: async () => (registry.isRunning ? 'ok' : 'the cameras are not started'),
    },
    { clock, remarks: () => ({ ...storeRemark(archive), ...clusterRemark(cluster) }) },
  );
  const cameras = () => registry.figures();
  const metrics = new Metrics(version, {
    clock,
    source: {
      threads,
      cameras,
      fleet: () => registry.fleet(),
      components: () => health.components(),
      storage: () => probe.storage(),
      brokenRecordings: () => archive.retention.broken,
      archiveWrites: () => desk.writeTimes,
      eventRecording: () => archive.byEvents.counts,
      pictures: () => pictures.figures,
      detection: () => ({ ...detecting.figures, ...archive.detections.counts }),
      notices: () => {
        const { waiting, sending, counts } = notices.webhooks;
        return { webhooks: { waiting, sending, ...counts }, mqtt: notices.mqtt?.figures ?? null };
      },
      store: () => {
        const queue = storeQueueOf(archive, clock);
        const state = archive.offsite?.state ?? null;
        return (
          queue && {
            ...{ ...queue, sentBytes: state?.copiedBytes ?? 0 },
            ...{ copied: state?.copied ?? 0, deleted: state?.deleted ?? 0, failed: state?.failed ?? 0 },
          }
        );
      },
      cluster: () => {
        if (cluster === null || relay === null) return null;
        const { boxes, hasMajority } = cluster.boxes;
        return {
          ...{ hasMajority, own: cluster.owners.count, ...cluster.owners.counts },
          relay: relay.figures,
          boxes: new Map(boxes.map(({ name, isHere }) => [name, isHere])),
          clocksAheadMs: new Map(
            boxes.flatMap(({ name, isHere, aheadMs }): [string, number][] =>
              isHere && aheadMs !== null && name !== config.boxName ? [[name, aheadMs]] : [],
            ),
          ),
        };
      },
      onvifEvents: () => eventCameras.counts,
      events: () => ({ readers: events.listenerCount, told: events.counts }),
    },
  });
  const ringBytes = () => {
    let sum = 0;
    for (const camera of cameras()) sum += camera.ringBytes;
    return sum;
  };
  const stats = new Stats(version, { clock, source: { threads, cameras, ringBytes, storageFault } });
  const history = new History(
    historySeries({
      addUp: (into) => registry.addUp(into),
      threads,
      freeBytes: freeBytesOf(probe, beat),
    }),
    { clock, uptimeMs: () => uptime() * 1_000 },
  );
  beat.on(() => history.sample());
  return { health, metrics, stats, history };
};
