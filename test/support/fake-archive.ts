import { setImmediate } from 'node:timers/promises';
import { AppError } from '../../src/base/errors.js';
import type { Clip } from '../../src/http/clip-response.js';
import type { FrameReading } from '../../src/http/frames-response.js';
import type { RecordingDeletions } from '../../src/http/routes/archive/deletion.js';
import type { RecordedDetections } from '../../src/http/routes/archive/detections.js';
import type { ClipSelection, RecordingExports } from '../../src/http/routes/archive/export.js';
import type { FramesWanted, RecordedFrames } from '../../src/http/routes/archive/frames.js';
import type { RecordedKeyFrames } from '../../src/http/routes/archive/key-frames.js';
import type { RecordingList, RecordingTimeline } from '../../src/http/routes/archive/lists.js';
import type { RecordingPlayback } from '../../src/http/routes/archive/playback.js';
import type { RecordedSubtitles } from '../../src/http/routes/archive/subtitles.js';

/** The only recording: two parts from 08:30:00.250 on. */
export const FILE = '2026-11-21_08-30-00_to_08-30-04.mp4';
export const CLIP_BYTES = 3_000_000;
const CHUNK_BYTES = 100_000;
const startMs = Date.UTC(2026, 10, 21, 8, 30, 0, 250);

/** What every clip consists of. */
export const clipContent = Buffer.alloc(CLIP_BYTES, Buffer.from(Array.from({ length: 251 }, (_, at) => at)));

/** An archive in memory, which notes what it was asked and what of it was given back. */
export class FakeArchive
  implements
    RecordingList,
    RecordingTimeline,
    RecordingPlayback,
    RecordedDetections,
    RecordedFrames,
    RecordedKeyFrames,
    RecordedSubtitles,
    RecordingExports,
    RecordingDeletions
{
  readonly asked: string[] = [];
  openClips = 0;
  readBytes = 0;
  contentBytes = CLIP_BYTES;
  /** Where the disk fails. */
  failsAtByte = Number.POSITIVE_INFINITY;
  /** Where another hand cuts the file. */
  endsAtByte = Number.POSITIVE_INFINITY;
  fault: AppError | null = null;

  isShared = false;
  /** The box that has it is away. */
  isAway = false;

  async list(cameraId: string) {
    this.#note(`list ${cameraId}`);
    const one = { startMs, endMs: startMs + 3_600, fileName: FILE, box: 'a', sizeBytes: 1_000 };
    return [this.isAway ? { ...one, isAway: true as const } : one];
  }

  async intervals(cameraId: string, fromMs: number, toMs: number) {
    this.#note(`intervals ${cameraId} ${new Date(fromMs).toISOString()} ${new Date(toMs).toISOString()}`);
    return {
      intervals: [{ startMs, endMs: startMs + 3_600 }],
      gaps: [{ startMs: fromMs, endMs: startMs, reason: 'not_recording' }],
      broken: [],
      ...(this.isAway && { away: [{ startMs, endMs: startMs + 3_600, box: 'a' }] }),
    };
  }

  async detections(cameraId: string, wanted: Parameters<RecordedDetections['detections']>[1]) {
    this.#note(`detections ${cameraId} ${JSON.stringify(wanted)}`);
    const isFirst = wanted.behind === null;
    const seen = isFirst ? [{ t: new Date(startMs).toISOString(), source: 'model', objects: [] }] : [];
    const next = isFirst ? { timeUs: startMs * 1_000, count: 1 } : null;
    return { json: new TextEncoder().encode(JSON.stringify(seen)), next };
  }

  async deleteWithin(cameraId: string, fromMs: number, toMs: number) {
    this.#note(`delete ${cameraId} ${new Date(fromMs).toISOString()} ${new Date(toMs).toISOString()}`);
    return 3;
  }

  async archivePlaylist(
    cameraId: string,
    { fileName, session }: { fileName: string; session: string | null },
  ) {
    this.#find(`playlist ${cameraId} ${fileName} ${session}`, fileName);
    return `#EXTM3U\nsegment.ts?file=${fileName}&seq=0${session === null ? '' : `&session=${session}`}\n`;
  }

  async rangePlaylist(cameraId: string, wanted: { fromMs: number; toMs: number; session: string | null }) {
    this.#note(`range ${cameraId} ${wanted.toMs - wanted.fromMs} ${wanted.session}`);
    return '#EXTM3U\n';
  }

  async segment(cameraId: string, { fileName, seq }: { fileName: string; seq: number }) {
    this.#find(`segment ${cameraId} ${fileName} ${seq}`, fileName);
    if (seq > 1) throw new AppError('bad_seq', 'the last part is 1');
    return { bytes: Buffer.alloc(188, 0x47), etag: `"s${seq}"` };
  }

  async archiveMaster(cameraId: string, { fileName, session }: { fileName: string; session: string | null }) {
    this.#find(`master ${cameraId} ${fileName} ${session}`, fileName);
    return '#EXTM3U\n';
  }

  async rangeMaster(cameraId: string, wanted: { fromMs: number; toMs: number; session: string | null }) {
    this.#note(`range master ${cameraId} ${wanted.toMs - wanted.fromMs} ${wanted.session}`);
    return '#EXTM3U\n';
  }

  async archiveSubtitles(
    cameraId: string,
    { fileName, session }: { fileName: string; session: string | null },
  ) {
    this.#find(`subtitles ${cameraId} ${fileName} ${session}`, fileName);
    return '#EXTM3U\n';
  }

  async rangeSubtitles(cameraId: string, wanted: { fromMs: number; toMs: number; session: string | null }) {
    this.#note(`range subtitles ${cameraId} ${wanted.toMs - wanted.fromMs} ${wanted.session}`);
    return '#EXTM3U\n';
  }

  async segmentSubtitles(cameraId: string, { fileName, seq }: { fileName: string; seq: number }) {
    this.#find(`subtitles ${cameraId} ${fileName} ${seq}`, fileName);
    if (seq > 1) throw new AppError('bad_seq', 'the last part is 1');
    return 'WEBVTT\n\n';
  }

  async clip(cameraId: string, wanted: ClipSelection): Promise<Clip> {
    if ('fileName' in wanted) {
      const { fileName, box, startSeq, endSeq } = wanted;
      const named = box === undefined ? fileName : `${fileName} of ${box}`;
      this.#find(`clip ${cameraId} ${named} ${startSeq} ${endSeq}`, fileName);
    } else this.#note(`clip ${cameraId} ${wanted.toMs - wanted.fromMs}`);
    this.openClips++;
    return {
      contentBytes: this.contentBytes,
      etag: '"clip"',
      lastModifiedMs: startMs,
      read: (startByte, endByte) => this.#read(startByte, endByte),
      close: () => {
        this.openClips--;
      },
    };
  }

  async keyFramePlaylist(
    cameraId: string,
    { fileName, session }: { fileName: string; session: string | null },
  ) {
    this.#find(`keyframes ${cameraId} ${fileName} ${session}`, fileName);
    return `#EXTM3U\nrecording.mp4?file=${fileName}\n`;
  }

  content(cameraId: string, { fileName }: { fileName: string }): Promise<Clip> {
    return this.clip(cameraId, { fileName });
  }

  async frames(cameraId: string, wanted: FramesWanted, viewer: string): Promise<FrameReading> {
    this.#note(`frames ${cameraId} ${JSON.stringify(wanted)} ${viewer}`);
    this.openClips++;
    let isClosed = false;
    return {
      read: () => this.#read(0, this.contentBytes),
      close: () => {
        if (!isClosed) this.openClips--;
        isClosed = true;
      },
    };
  }

  async *#read(startByte: number, endByte: number): AsyncGenerator<Buffer> {
    const end = Math.min(endByte, this.endsAtByte);
    for (let at = startByte; at < end; at += CHUNK_BYTES) {
      if (at >= this.failsAtByte) throw new AppError('archive_unavailable', 'the disk fails');
      await setImmediate();
      // A longer clip than there is content for begins anew.
      const from = at % CLIP_BYTES;
      const chunk = clipContent.subarray(from, from + Math.min(CHUNK_BYTES, end - at));
      this.readBytes += chunk.length;
      yield chunk;
    }
  }

  #find(question: string, fileName: string): void {
    this.#note(question);
    if (fileName !== FILE) throw new AppError('not_found', 'there is no such recording');
  }

  #note(question: string): void {
    this.asked.push(question);
    if (this.fault !== null) throw this.fault;
  }
}

const nothingSeen = () => Promise.resolve({ json: new TextEncoder().encode('[]'), next: null });

const noRecording = () => Promise.reject(new AppError('not_found', 'there is no such recording'));

/** For those who play without subtitles. */
export const noSubtitles = {
  archiveMaster: noRecording,
  rangeMaster: noRecording,
  archiveSubtitles: noRecording,
  rangeSubtitles: noRecording,
  segmentSubtitles: noRecording,
  clipSubtitles: noRecording,
};

/** For those who only read. */
export const noDeletions = {
  detections: { detections: nothingSeen, page: nothingSeen },
  subtitles: noSubtitles,
  deleted: { has: () => false },
  deletions: { deleteWithin: () => Promise.resolve(0) },
};

/** For those who play segments alone. */
export const noFrames = {
  keyFrames: {
    keyFramePlaylist: () => Promise.reject(new AppError('not_found', 'there is no such recording')),
    content: () => Promise.reject(new AppError('not_found', 'there is no such recording')),
  },
  frames: { frames: () => Promise.reject(new AppError('not_found', 'nothing was recorded in this time')) },
  viewers: { takePlace: () => ({ release: () => {} }) },
};
