import { writeFileSync } from 'node:fs';
import { systemClock } from '../../src/base/clock.js';
import { sendTimeMs } from '../support/frame-generator.js';
import { WebSocketViewer } from '../support/websocket-viewer.js';
import { coverageOf, type Span, spansOf } from './coverage.js';
import type { Network } from './network.js';
import { type Box, Ends, FRAME_MS, GOP_MS, pause, Rig, type RigOptions } from './rig.js';

export type Fault = {
  readonly name: string;
  /** As the table says it. */
  readonly what: string;
  readonly env?: (ends: Ends, network: Network) => Promise<Readonly<Record<string, string>>>;
  /** Whose cameras count as hit; the first box where none is named. */
  readonly victim?: (rig: Rig) => Promise<Box>;
  /** The fault from its beginning to its end. */
  readonly happen: (rig: Rig, victim: Box, ends: Ends) => Promise<void>;
  /** What is to be made whole again before it is looked what was lost. */
  readonly mend?: (rig: Rig, victim: Box) => Promise<void>;
  /** Where a majority lives all the time nothing may be unrecorded for longer; null: it is only told. */
  readonly mostUnrecordedMs?: number | null;
  readonly mostViewerGapMs?: number | null;
  /** More that must be so in the end: what isn't. */
  readonly check?: (rig: Rig) => Promise<string | null>;
};

export type Cost = {
  readonly what: string;
  readonly hit: number;
  readonly unrecordedMs: number;
  readonly doubledMs: number;
  readonly wellAfterMs: number;
  readonly viewerGapMs: number;
  /** What was not as it must be; none: all was. */
  readonly faults: readonly string[];
};

/** Connecting, and to be noticed: what the cluster promises besides the camera's own next keyframe. */
const MOST_UNRECORDED_MS = 5_000;
const VIEWERS = 6;
/** So long before a fault all must be well, and be on the disk. */
const QUIET_MS = 3_000;
/** What was sent before this is on the disk. */
const WRITTEN_AFTER_MS = 4_000;

type Held = {
  readonly box: Box;
  readonly cameraId: string;
  readonly untilMs: number;
  readonly frames: number;
};

/** What is on the disks, so that it can be seen later whether it still is. */
const heldBy = (rig: Rig, untilMs: number): Held[] =>
  rig.boxes.flatMap((box) =>
    rig.ids.map((cameraId) => ({
      ...{ box, cameraId, untilMs },
      frames: box.frames(cameraId).filter(({ sentMs }) => sentMs < untilMs).length,
    })),
  );

const lostOf = (held: readonly Held[]): string[] =>
  held
    .filter(({ box, cameraId, untilMs, frames }) => {
      const now = box.frames(cameraId).filter(({ sentMs }) => sentMs < untilMs).length;
      return now < frames;
    })
    .map(({ box, cameraId }) => `${cameraId} of ${box.name}`);

const isFirst = <Value>(value: Value, at: number, all: readonly Value[]): boolean =>
  all.indexOf(value) === at;

/** The longest time for which one who watched got nothing new. */
const viewerGapMs = ({ frames }: WebSocketViewer, { fromMs, toMs }: Span): number => {
  const aheadMs = systemClock.monotonicMs() - performance.now();
  const times = frames.map(({ receivedMs }) => receivedMs + aheadMs).filter((ms) => ms > fromMs && ms < toMs);
  let [last, longest] = [fromMs, 0];
  for (const ms of [...times, toMs]) {
    longest = Math.max(longest, ms - last);
    last = ms;
  }
  return longest;
};

/** Pictures that were shown before, and came once more. */
const isShownTwice = ({ frames }: WebSocketViewer): boolean => {
  const sent = frames.map(({ bytes }) => sendTimeMs(bytes));
  return sent.some((ms, at) => at > 0 && ms < sent[at - 1]! - 2 * GOP_MS);
};

const watch = (rig: Rig, victim: Box, ends: Ends): WebSocketViewer[] => {
  const others = rig.boxes.filter((box) => box !== victim);
  const viewers = rig
    .of(victim)
    .slice(0, VIEWERS)
    .map((id, at) => {
      const { url } = others[at % others.length]!;
      return new WebSocketViewer(`${url.replace('http', 'ws')}/stream/ws/${id}`);
    });
  ends.after(() => {
    for (const { webSocket } of viewers) webSocket.terminate();
  });
  return viewers;
};

export type SufferOptions = {
  readonly network: Network;
  readonly options: RigOptions;
  /** Where logs of the boxes are left, and what each had of a camera that was missed; null: nowhere. */
  readonly logsDir: string | null;
};

/** When each box has the camera, from the fault on. */
const keepSpans = (rig: Rig, cameraId: string, beganMs: number, path: string): void => {
  const sinceMs = (ms: number): number => Math.round(ms - beganMs);
  const lines = rig.boxes.map((box) => {
    const spans = spansOf(box.frames(cameraId), FRAME_MS).map(
      ({ fromMs, toMs }) => `${sinceMs(fromMs)} to ${sinceMs(toMs)} ms`,
    );
    return `${box.name}: ${spans.join(', ')}`;
  });
  writeFileSync(`${path}-${cameraId}.txt`, `${lines.join('\n')}\n`);
};

/** Lets it happen to a cluster of its own, and looks what that cost by what is on the disks. */
export const suffer = async (fault: Fault, { network, options, logsDir }: SufferOptions): Promise<Cost> => {
  const ends = new Ends();
  const faults: string[] = [];
  try {
    const env = { ...options.env, ...(await fault.env?.(ends, network)) };
    const rig = await Rig.start(network, ends, { ...options, env });
    const victim = (await fault.victim?.(rig)) ?? rig.boxes[0]!;
    const hit = rig.of(victim).length;
    // Each box knows by then where it can ask for pictures.
    await pause(QUIET_MS);
    const viewers = watch(rig, victim, ends);
    await Promise.all(viewers.map((viewer) => viewer.untilFrames(10)));
    await pause(QUIET_MS + WRITTEN_AFTER_MS);
    const fromMs = systemClock.monotonicMs();
    const held = heldBy(rig, fromMs - WRITTEN_AFTER_MS);
    const skippedBefore = (await rig.source.report()).skippedFrames;
    const beganMs = systemClock.monotonicMs();
    await fault.happen(rig, victim, ends);
    const endedMs = systemClock.monotonicMs();
    try {
      await rig.untilWell();
    } catch (thrown) {
      faults.push((thrown as Error).message);
    }
    const wellMs = systemClock.monotonicMs();
    await pause(WRITTEN_AFTER_MS);
    const span: Span = { fromMs: beganMs - QUIET_MS, toMs: wellMs };
    const covered = rig.ids.map((id) =>
      coverageOf(
        rig.boxes.map((box) => spansOf(box.frames(id), FRAME_MS)),
        span,
      ),
    );
    const unrecordedMs = Math.max(...covered.map(({ longestGapMs }) => longestGapMs));
    const doubledMs = Math.max(...covered.map(({ doubledMs: ms }) => ms));
    const mostMs =
      fault.mostUnrecordedMs === undefined ? MOST_UNRECORDED_MS + GOP_MS : fault.mostUnrecordedMs;
    if (mostMs !== null && unrecordedMs > mostMs) {
      const worst = rig.ids[covered.findIndex(({ longestGapMs }) => longestGapMs === unrecordedMs)];
      const skipped = (await rig.source.report()).skippedFrames - skippedBefore;
      if (logsDir !== null && worst !== undefined) keepSpans(rig, worst, beganMs, `${logsDir}/${fault.name}`);
      faults.push(
        `${worst} was unrecorded for too long (${skipped} frames were not sent, for want of speed)`,
      );
    }
    const gapMs = Math.max(0, ...viewers.map((viewer) => viewerGapMs(viewer, span)));
    const mostGapMs =
      fault.mostViewerGapMs === undefined ? MOST_UNRECORDED_MS + 2 * GOP_MS : fault.mostViewerGapMs;
    if (mostGapMs !== null && gapMs > mostGapMs) faults.push('a viewer saw nothing for too long');
    if (viewers.some(isShownTwice)) faults.push('a viewer was shown the past');
    faults.push(...viewers.flatMap((viewer) => viewer.faults).filter(isFirst));
    await fault.mend?.(rig, victim);
    const lost = lostOf(held);
    if (lost.length > 0) faults.push(`lost: ${lost.length}, ${lost[0]}`);
    for (const box of rig.running) {
      const unlisted = await box.unlisted(rig.ids);
      if (unlisted.length > 0) faults.push(`unlisted at ${box.name}: ${unlisted.length}, ${unlisted[0]}`);
    }
    const more = await fault.check?.(rig);
    if (more != null) faults.push(more);
    if (logsDir !== null)
      for (const box of rig.boxes)
        writeFileSync(`${logsDir}/${fault.name}-${box.name}.log`, box.service.out());
    return {
      ...{ what: fault.what, hit, unrecordedMs, doubledMs, viewerGapMs: gapMs, faults },
      wellAfterMs: wellMs - endedMs,
    };
  } finally {
    await ends.all();
  }
};
