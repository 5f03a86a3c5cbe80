import { z } from 'zod';
import { parseRecordingName } from '../../archive/files/file-name.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { AuditDetails } from '../audit.js';
import { type Clip, sendClip } from '../clip-response.js';
import { invalidInput } from '../problem.js';
import { type Content, type Reply, type Route, route } from '../route.js';
import { idParams } from '../schemas.js';
import { instantSchema, rangeOf, type TimeRange } from '../time-range.js';

type Span = { readonly startMs: number; readonly endMs: number };

/** The recordings that there are. */
export type RecordingList = {
  /** Sorted by start. */
  list(cameraId: string): Promise<readonly (Span & { readonly fileName: string })[]>;
};

/** What was recorded when, and why not. */
export type RecordingTimeline = {
  intervals(
    cameraId: string,
    fromMs: number,
    toMs: number,
  ): Promise<{
    readonly intervals: readonly Span[];
    readonly gaps: readonly (Span & { readonly reason: string })[];
    /** Files that were moved aside, since nothing in them can be played. */
    readonly broken: readonly (Span & { readonly fileName: string; readonly sizeBytes: number })[];
  }>;
};

/** What to export: parts of a recording, by their numbers and both ends included, or a time. */
export type ClipSelection =
  | { readonly fileName: string; readonly startSeq?: number; readonly endSeq?: number }
  | TimeRange;

type Session = {
  /** For the child addresses; null where they need none. */
  readonly session: string | null;
};

/** Recordings as players take them. */
export type RecordingPlayback = {
  archivePlaylist(cameraId: string, wanted: { readonly fileName: string } & Session): Promise<Content>;
  rangePlaylist(cameraId: string, wanted: TimeRange & Session): Promise<Content>;
  /** One part as MPEG-TS; what it says once it says ever after. */
  segment(
    cameraId: string,
    wanted: { readonly fileName: string; readonly seq: number },
  ): Promise<{ readonly bytes: Buffer; readonly etag: string }>;
  clip(cameraId: string, wanted: ClipSelection): Promise<Clip>;
};

/** What gets rid of recordings. */
export type RecordingDeletions = {
  /** How many were deleted. */
  deleteWithin(cameraId: string, fromMs: number, toMs: number): Promise<number>;
};

export type ArchiveRoutesDeps = {
  readonly clock: Clock;
  readonly cameras: { has(cameraId: string): boolean };
  /** Cameras that are no more, but whose recordings may be there. */
  readonly deleted: { has(cameraId: string): boolean };
  readonly recordings: RecordingList;
  readonly timeline: RecordingTimeline;
  readonly playback: RecordingPlayback;
  readonly deletions: RecordingDeletions;
};

const noCamera = (id: string): AppError => new AppError('not_found', `there is no camera ${id}`);

const MAX_LISTED_DAYS = 31;
/** A playlist has a line for each keyframe, a clip a table entry for each frame. */
const MAX_PLAYED_DAYS = 1;
const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';

const isoSchema = z.iso.datetime();
const spanShape = { start: isoSchema, end: isoSchema };
const intervalsSchema = z.array(z.strictObject({ ...spanShape, filename: z.string() }));
const coverageSchema = z
  .strictObject({
    intervals: z.array(z.strictObject(spanShape)),
    gaps: z.array(z.strictObject({ ...spanShape, reason: z.string() })),
    broken: z
      .array(z.strictObject({ ...spanShape, filename: z.string(), bytes: z.int().min(0) }))
      .meta({ description: 'files that no one can play; they leave with the recordings of their time' }),
  })
  .meta({ id: 'Recordings' });

const deletedSchema = z.strictObject({ message: z.string(), deleted: z.int().nonnegative() });

/** The archive knows which names are its own; this bounds what is looked at. */
const fileSchema = z.string().max(255).meta({ description: 'the name of a recording' });
const seqSchema = z.string().max(64).meta({ pattern: '^[0-9]{1,9}$' });

const shownSpan = ({ startMs, endMs }: Span) => ({
  start: new Date(startMs).toISOString(),
  end: new Date(endMs).toISOString(),
});

const playlist = (text: Content): Reply => ({ status: 200, text, contentType: PLAYLIST_TYPE });

/** Nothing but names of our own making ever gets near a path. */
const checkedName = (fileName: string): string => {
  if (parseRecordingName(fileName) === null)
    throw new AppError('bad_file_name', 'the file must be named as in the list of recordings');
  return fileName;
};

const seqOf = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new AppError('bad_seq', `${name} must be a whole number, 0 or more`);
  return Number(text);
};

const exportQuery = z.object({
  file: fileSchema.optional(),
  start_seq: seqSchema.optional(),
  end_seq: seqSchema.optional(),
  from: instantSchema.optional(),
  to: instantSchema.optional(),
});

/** What to export; exactly one of the two ways to say it. */
const selectionOf = (query: z.infer<typeof exportQuery>, nowMs: number): ClipSelection => {
  const { file, start_seq: start, end_seq: end, from, to } = query;
  const isByTime = from !== undefined || to !== undefined;
  if (file === undefined) {
    if (from === undefined || to === undefined || start !== undefined || end !== undefined)
      throw invalidInput([{ path: 'file', message: 'either "file" is needed, or "from" and "to" alone' }]);
    return rangeOf({ from, to }, nowMs, MAX_PLAYED_DAYS);
  }
  if (isByTime) throw invalidInput([{ path: 'file', message: 'goes without "from" and "to"' }]);
  return {
    fileName: checkedName(file),
    ...(start === undefined ? {} : { startSeq: seqOf('start_seq', start) }),
    ...(end === undefined ? {} : { endSeq: seqOf('end_seq', end) }),
  };
};

/** The same for the audit log. */
const shownSelection = (selection: ClipSelection): AuditDetails => {
  if (!('fileName' in selection))
    return {
      from: new Date(selection.fromMs).toISOString(),
      to: new Date(selection.toMs).toISOString(),
    };
  const { fileName: file, startSeq: start_seq, endSeq: end_seq } = selection;
  return { file, start_seq, end_seq };
};

/** What is there: for users of the interface. */
const listRoutes = (
  { clock, recordings, timeline }: ArchiveRoutesDeps,
  known: (id: string) => string,
): Route[] => [
  route({
    method: 'get',
    path: '/api/cameras/:id/archive',
    access: 'archive.read',
    summary: 'The recordings of a camera; the last one may still be growing',
    params: idParams,
    answers: { 200: { description: 'Recordings, sorted by start', schema: intervalsSchema } },
    problems: [404, 503],
    handle: async ({ params }) => {
      const found = await recordings.list(known(params.id));
      const body = found.map((one) => ({ ...shownSpan(one), filename: one.fileName }));
      return { status: 200, body };
    },
  }),
  route({
    method: 'get',
    path: '/api/cameras/:id/recordings',
    access: 'archive.read',
    summary: 'When a camera was recorded, and why not: the last 24 hours, or 31 days at most',
    params: idParams,
    query: z.object({ from: instantSchema.optional(), to: instantSchema.optional() }),
    answers: { 200: { description: 'Intervals and gaps', schema: coverageSchema } },
    problems: [404, 503],
    handle: async ({ params, query }) => {
      const { fromMs, toMs } = rangeOf(query, clock.wallMs(), MAX_LISTED_DAYS);
      const { intervals, gaps, broken } = await timeline.intervals(known(params.id), fromMs, toMs);
      const body = {
        intervals: intervals.map(shownSpan),
        gaps: gaps.map((gap) => ({ ...shownSpan(gap), reason: gap.reason })),
        broken: broken.map((one) => ({ ...shownSpan(one), filename: one.fileName, bytes: one.sizeBytes })),
      };
      return { status: 200, body };
    },
  }),
];

/** What HLS players poll. */
const hlsRoutes = ({ clock, playback }: ArchiveRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/hls/:id/archive.m3u8',
    access: 'stream',
    permission: 'archive.read',
    summary: 'A recording as an HLS playlist; one that is being written grows',
    params: idParams,
    query: z.object({ file: fileSchema }),
    answers: { 200: { description: 'A media playlist', contentType: PLAYLIST_TYPE } },
    handle: async ({ params: { id }, query: { file }, viewing }) =>
      playlist(await playback.archivePlaylist(id, { fileName: checkedName(file), session: viewing.id })),
  }),
  route({
    method: 'get',
    path: '/hls/:id/range.m3u8',
    access: 'stream',
    permission: 'archive.read',
    summary: 'All that was recorded within a time, a day at most, as an HLS playlist',
    params: idParams,
    query: z.object({ from: instantSchema, to: instantSchema }),
    answers: { 200: { description: 'A media playlist', contentType: PLAYLIST_TYPE } },
    handle: async ({ params: { id }, query, viewing }) => {
      const range = rangeOf(query, clock.wallMs(), MAX_PLAYED_DAYS);
      return playlist(await playback.rangePlaylist(id, { ...range, session: viewing.id }));
    },
  }),
  route({
    method: 'get',
    path: '/hls/:id/segment.ts',
    access: 'stream',
    permission: 'archive.read',
    summary: 'One part of a recording',
    params: idParams,
    query: z.object({ file: fileSchema, seq: seqSchema }),
    answers: {
      200: { description: 'MPEG-TS', contentType: 'video/mp2t' },
      304: { description: 'The part that the client has', contentType: null },
    },
    handle: async ({ params: { id }, query: { file, seq } }) => {
      const wanted = { fileName: checkedName(file), seq: seqOf('seq', seq) };
      const { bytes, etag } = await playback.segment(id, wanted);
      // A part is listed when it is whole, and never changes then.
      const headers = { ETag: etag, 'Cache-Control': 'private, max-age=3600' };
      return { status: 200, text: bytes, contentType: 'video/mp2t', headers };
    },
  }),
];

const exportRoute = ({ clock, playback }: ArchiveRoutesDeps, known: (id: string) => string): Route => {
  const contentType = 'video/mp4';
  return route({
    method: 'get',
    path: '/api/cameras/:id/export',
    access: 'archive.read',
    audit: 'export_recording',
    summary: 'Parts of a recording, or all that was recorded within a time, as one MP4 file',
    params: idParams,
    query: exportQuery,
    answers: {
      200: { description: 'The file', contentType },
      206: { description: 'The range that was asked for', contentType },
      304: { description: 'The file that the client has', contentType: null },
    },
    problems: [404, 416, 503],
    handle: ({ params, query, note }) => {
      const id = known(params.id);
      const wanted = selectionOf(query, clock.wallMs());
      note(shownSelection(wanted));
      return {
        write: async (request, response) =>
          await sendClip(await playback.clip(id, wanted), `export_${id}.mp4`, request, response),
      };
    },
  });
};

/** Recordings of a camera that was deleted can be deleted, too. */
const deleteRoute = ({ cameras, deleted, deletions }: ArchiveRoutesDeps): Route =>
  route({
    method: 'delete',
    path: '/api/cameras/:id/archive',
    access: 'archive.delete',
    audit: 'delete_recordings',
    summary: 'Delete the closed recordings that lie within a time',
    params: idParams,
    query: z.object({ from: instantSchema, to: instantSchema }),
    answers: { 200: { description: 'Done', schema: deletedSchema } },
    problems: [404, 503],
    handle: async ({ params: { id }, query: { from, to }, note }) => {
      note({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
      if (from >= to) throw invalidInput([{ path: 'from', message: 'must be before "to"' }]);
      if (!cameras.has(id) && !deleted.has(id)) throw noCamera(id);
      const count = await deletions.deleteWithin(id, from, to);
      note({ deleted: count });
      return { status: 200, body: { message: 'recordings deleted', deleted: count } };
    },
  });

/** Recordings: lists, playback, export and deletion. */
export const archiveRoutes = (deps: ArchiveRoutesDeps): Route[] => {
  const known = (id: string): string => {
    if (!deps.cameras.has(id)) throw noCamera(id);
    return id;
  };
  return [...listRoutes(deps, known), ...hlsRoutes(deps), exportRoute(deps, known), deleteRoute(deps)];
};
