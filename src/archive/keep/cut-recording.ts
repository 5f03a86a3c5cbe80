import { lstatSync, renameSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder } from '../../base/durable-file.js';
import { AppError } from '../../base/errors.js';
import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { VIDEO_TRACK_ID } from '../../fmp4/init-segment.js';
import { PartTable } from '../../fmp4/part-table.js';
import { shareOut } from '../detections/share-out.js';
import { eachFolder } from '../files/archive-folders.js';
import { folderOf } from '../files/archive-path.js';
import { deleteBelongings } from '../files/belongings.js';
import { isDiskFull } from '../files/disk-fault.js';
import { closedName, cutName, isCutName, parseRecordingName } from '../files/file-name.js';
import { videoIndexOf } from '../files/file-times.js';
import type { FileWalk } from '../files/file-walk.js';
import { type OpenedRecording, withRecording } from '../files/recording-source.js';
import { statFile } from '../files/scan-folder.js';
import { PartCollector } from '../parts/part-collector.js';
import { partsOfTable } from '../parts/parts-of-table.js';
import type { RecordedParts } from '../parts/recorded-parts.js';
import type { TimeSpan } from './kept-spans.js';
import { writePiece } from './split-file.js';

/** What became of a recording of which some times are kept. */
export type Cut = {
  /** whole: all of it is kept; gone: there is no such recording; unreadable: nobody can tell its parts, so it stays. */
  readonly outcome: 'whole' | 'cut' | 'deleted' | 'gone' | 'unreadable';
  /** The recordings that it became. */
  readonly names: readonly string[];
};

export type CutInput = {
  readonly archiveDir: string;
  readonly cameraId: string;
  readonly fileName: string;
  readonly kept: readonly TimeSpan[];
};

/** Parts [first, end) of a recording, and from when to when they are. */
type Run = { readonly first: number; end: number };

type Piece = { readonly path: string; readonly startMs: number; readonly endMs: number };

const MAX_NAMES_TRIED = 60;

const nothing = (outcome: Exclude<Cut['outcome'], 'cut'>): Cut => ({ outcome, names: [] });

/** Its own index tells them, or else its fragments. */
const partsOf = (recording: OpenedRecording, namedMs: number): RecordedParts => {
  const told = partsOfTable(recording);
  if (told !== null) {
    told.setWallTimes(0, namedMs);
    return told;
  }
  const walk = recording.walk(0, recording.fileBytes);
  const collector = new PartCollector(walk.scanner);
  walk.readAll((fragment) => collector.take(fragment));
  collector.finish();
  collector.parts.setWallTimes(0, namedMs);
  return collector.parts;
};

const keptRuns = (parts: RecordedParts, kept: readonly TimeSpan[]): Run[] => {
  const runs: Run[] = [];
  for (let part = 0; part < parts.count; part += 1) {
    const [startMs, endMs] = [parts.wallMs[part]!, parts.wallEndMs(part)];
    if (!kept.some(({ fromMs, toMs }) => startMs <= toMs && endMs > fromMs)) continue;
    const last = runs.at(-1);
    if (last?.end === part) last.end = part + 1;
    else runs.push({ first: part, end: part + 1 });
  }
  return runs;
};

/** Copies parts of a recording to files of their own, which are synced and have no names yet. */
class PieceWriter {
  readonly #folder: string;
  readonly #fileName: string;
  readonly #recording: OpenedRecording;
  readonly #parts: RecordedParts;
  readonly #walk: FileWalk;

  constructor(folder: string, fileName: string, recording: OpenedRecording, parts: RecordedParts) {
    this.#folder = folder;
    this.#fileName = fileName;
    this.#recording = recording;
    this.#parts = parts;
    this.#walk = recording.walk(0, recording.fileBytes);
  }

  write({ first, end }: Run, number: number): Piece {
    const parts = this.#parts;
    const { movie, movieEndBytes: headBytes } = this.#walk.scanner;
    const track = movie?.tracks[videoIndexOf(this.#walk.scanner)];
    const table = new PartTable();
    for (let part = first; part < end; part += 1) {
      const timeTicks = (parts.ptsTicks[part]! * (track?.timescaleHz ?? VIDEO_CLOCK_HZ)) / VIDEO_CLOCK_HZ;
      table.add(Math.round(timeTicks), this.#placeOf(part).moofOffset);
    }
    const { startBytes } = this.#placeOf(first);
    const endBytes = end < parts.count ? this.#placeOf(end).startBytes : parts.endBytes[end - 1]!;
    const whole = { fd: this.#recording.fd, headBytes, videoTrackId: track?.trackId ?? VIDEO_TRACK_ID };
    const path = join(this.#folder, cutName(this.#fileName, number));
    const reason = first === 0 ? null : 'no_event';
    writePiece(path, whole, { startBytes, endBytes, parts: table, waste: [] }, reason);
    return { path, startMs: parts.wallMs[first]!, endMs: parts.wallEndMs(end - 1) };
  }

  /** An index says where a part's moof is; a walk, where the prft before it begins. */
  #placeOf(part: number): { readonly startBytes: number; readonly moofOffset: number } {
    const toldBytes = this.#parts.startBytes[part]!;
    const head = this.#walk.read(toldBytes, 8);
    if (head.toString('latin1', 4, 8) === 'prft')
      return { startBytes: toldBytes, moofOffset: toldBytes + head.readUInt32BE(0) };
    return { startBytes: this.#walk.partStart(toldBytes), moofOffset: toldBytes };
  }
}

/** One that has the name and the size already is of the same cut, which was broken off. */
const namePiece = (folder: string, { path, startMs, endMs }: Piece): string => {
  const { size } = lstatSync(path);
  for (let attempt = 0; attempt < MAX_NAMES_TRIED; attempt += 1) {
    const name = closedName(startMs, endMs + attempt * 1_000);
    const there = lstatSync(join(folder, name), { throwIfNoEntry: false });
    if (there !== undefined && there.size !== size) continue;
    if (there === undefined) renameSync(path, join(folder, name));
    else unlinkSync(path);
    return name;
  }
  throw new Error(`no name is free for ${path}`);
};

const remove = (path: string): void => {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) unlinkSync(path);
};

const writePieces = (
  folder: string,
  fileName: string,
  runs: readonly Run[],
  writer: PieceWriter,
): Piece[] => {
  const paths = runs.map((_, at) => join(folder, cutName(fileName, at + 1)));
  for (const path of paths) remove(path);
  try {
    return runs.map((run, at) => writer.write(run, at + 1));
  } catch (fault) {
    // They would only take room until it is tried again.
    for (const path of paths) remove(path);
    throw fault;
  }
};

/** Where there is no room it is tried again with the cut; no other fault of what was seen keeps a recording from being cut. */
const shareOutIfPossible = (folder: string, fileName: string, names: readonly string[]): void => {
  try {
    shareOut(folder, fileName, names);
  } catch (fault) {
    if (isDiskFull(fault)) throw fault;
  }
};

const cutOpened = (
  folder: string,
  fileName: string,
  recording: OpenedRecording,
  kept: readonly TimeSpan[],
): Cut => {
  const parts = partsOf(recording, parseRecordingName(fileName)?.startMs ?? 0);
  if (parts.count === 0) return nothing('unreadable');
  const runs = keptRuns(parts, kept);
  const [run] = runs;
  if (run === undefined) return nothing('deleted');
  if (run.first === 0 && run.end === parts.count) return nothing('whole');
  const pieces = writePieces(folder, fileName, runs, new PieceWriter(folder, fileName, recording, parts));
  const names = pieces.map((piece) => namePiece(folder, piece));
  shareOutIfPossible(folder, fileName, names);
  syncFolder(folder);
  return { outcome: 'cut', names };
};

/**
 * Job: leaves of a closed recording the parts that have some of the times that are kept. These are on the disk for good,
 * under names of their own, before the recording goes; interrupted anywhere it comes to the same when it is done again.
 */
export const cutRecording = ({ archiveDir, cameraId, fileName, kept }: CutInput): Cut => {
  const folder = folderOf(archiveDir, cameraId);
  const stamp = statFile({ folder, fileName });
  if (stamp === null || typeof parseRecordingName(fileName)?.endMs !== 'number') return nothing('gone');
  const path = join(folder, fileName);
  let cut = nothing('deleted');
  try {
    if (kept.length > 0)
      cut = withRecording({ path, stamp, isOpen: false }, (opened) =>
        cutOpened(folder, fileName, opened, kept),
      );
  } catch (fault) {
    // What makes no sense is none of the disk's faults, and nobody's to delete.
    if (fault instanceof AppError) return nothing('unreadable');
    throw fault;
  }
  if (cut.outcome === 'cut' || cut.outcome === 'deleted') {
    unlinkSync(path);
    deleteBelongings(folder, fileName);
    syncFolder(folder);
  }
  return cut;
};

/** Job, before any other of these: removes pieces of cuts that were broken off; what they are of is there still. */
export const removeCutPieces = ({ archiveDir }: { readonly archiveDir: string }): number => {
  let removed = 0;
  eachFolder(archiveDir, (cameraId, names) => {
    for (const name of names) {
      if (!isCutName(name)) continue;
      remove(join(archiveDir, cameraId, name));
      removed += 1;
    }
  });
  return removed;
};
