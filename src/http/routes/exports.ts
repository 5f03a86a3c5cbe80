import type { Request } from 'express';
import type { z } from 'zod';
import type { ExportedFile, ExportItem } from '../../archive/bundle/exported-file.js';
import type { Export, Exports } from '../../archive/bundle/exports.js';
import type { Sight } from '../../auth/sight.js';
import type { Viewers } from '../../auth/viewers.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { AuditDetails } from '../audit.js';
import { sendClip } from '../clip-response.js';
import { downloadParams, exportParams, exportSchema, newExportSchema } from '../export-schemas.js';
import { type InputFault, invalidInput } from '../problem.js';
import { type Route, route } from '../route.js';
import { messageSchema } from '../schemas.js';
import { whileAllowed } from '../while-allowed.js';
import type { KnownIds } from './archive/known-camera.js';

export type ExportRoutesDeps = {
  readonly clock: Clock;
  readonly cameras: KnownIds;
  readonly exports: Pick<Exports, 'make' | 'find' | 'content' | 'end'>;
  readonly viewers: Pick<Viewers, 'takePlace'>;
};

const HOUR_MS = 3_600_000;
const MAX_ITEM_MS = 24 * HOUR_MS;
/** Each hour takes some 150 ms to plan. */
const MAX_ALL_MS = 72 * HOUR_MS;

const faultOf = ({ from, to }: { readonly from: number; readonly to: number }): string | null => {
  if (from >= to) return 'must be before "to"';
  return to - from > MAX_ITEM_MS ? 'must be at most 24 hours before "to"' : null;
};

/** The items, if they are times that can be exported at once; throws `invalid_input` or `not_found`. */
const itemsOf = (
  { items }: z.infer<typeof newExportSchema>,
  cameras: KnownIds,
  sight: Sight,
): ExportItem[] => {
  const faults: InputFault[] = items.flatMap((item, index) => {
    const message = faultOf(item);
    return message === null ? [] : [{ path: `items[${index}].from`, message }];
  });
  const totalMs = items.reduce((sum, { from, to }) => sum + Math.max(to - from, 0), 0);
  if (totalMs > MAX_ALL_MS) faults.push({ path: 'items', message: 'must have 72 hours at most together' });
  if (faults.length > 0) throw invalidInput(faults);
  const unknown = items.flatMap(({ camera_id: id }, index) =>
    sight.seesCamera(id) && cameras.has(id)
      ? []
      : [{ path: `items[${index}].camera_id`, message: `there is no camera ${id}` }],
  );
  const [first] = unknown;
  if (first !== undefined) throw new AppError('not_found', first.message, { details: { errors: unknown } });
  return items.map(({ camera_id: cameraId, from: fromMs, to: toMs }) => ({ cameraId, fromMs, toMs }));
};

const isoOf = (timeMs: number): string => new Date(timeMs).toISOString();

const spanOf = ({ fromMs, toMs }: ExportItem): string => `${isoOf(fromMs)}/${isoOf(toMs)}`;

/** What of it the audit log tells: whose pictures, and when. */
const shownItems = (items: readonly ExportItem[]): AuditDetails => ({
  cameras: items.map(({ cameraId }) => cameraId),
  times: items.map(spanOf),
});

const fileView = (file: ExportedFile, url: string) => ({
  camera_id: file.item.cameraId,
  from: isoOf(file.item.fromMs),
  to: isoOf(file.item.toMs),
  begins_at: isoOf(file.clip.beginMs),
  ends_at: isoOf(file.clip.endMs),
  duration_ms: Math.round(file.clip.durationMs),
  gaps: file.gaps.map(({ startMs, endMs, reason }) => ({ from: isoOf(startMs), to: isoOf(endMs), reason })),
  name: file.name,
  bytes: file.clip.contentBytes,
  url,
});

const viewOf = ({ id, madeMs, expiresMs, files, zip, zipName }: Export) => {
  const urlOf = (name: string): string => `/exports/${id}/${name}`;
  return {
    id,
    made_at: isoOf(madeMs),
    expires_at: isoOf(expiresMs),
    bytes: files.reduce((sum, { clip }) => sum + clip.contentBytes, 0),
    files: files.map((file) => fileView(file, urlOf(file.name))),
    zip: zip === null ? null : { name: zipName, bytes: zip.contentBytes, url: urlOf(zipName) },
  };
};

const noExport = (): AppError => new AppError('not_found', 'there is no such export, or its hour is over');

const makeRoute = ({ cameras, exports }: ExportRoutesDeps): Route =>
  route({
    method: 'post',
    path: '/api/exports',
    access: 'archive.read',
    audit: 'export',
    summary:
      'Times of up to 36 cameras as MP4 files, and as one zip file: addresses that are good for an hour',
    body: newExportSchema,
    answers: { 201: { description: 'What there is to download', schema: exportSchema } },
    problems: [404, 429, 503],
    handle: async ({ body, principal, sight, note, onGone }) => {
      const items = itemsOf(body, cameras, sight);
      note(shownItems(items));
      const gone = new AbortController();
      onGone(() => gone.abort());
      const { username } = principal;
      const made = await exports.make({ username, items, isZipped: body.zip, signal: gone.signal });
      return { status: 201, body: viewOf(made) };
    },
  });

const endRoute = ({ exports }: ExportRoutesDeps): Route =>
  route({
    method: 'delete',
    path: '/api/exports/:id',
    access: 'archive.read',
    audit: 'end_export',
    summary: 'End an own export: its addresses are good no more',
    params: exportParams,
    answers: { 200: { description: 'It has ended', schema: messageSchema } },
    problems: [404],
    handle: ({ params: { id }, principal, note }) => {
      const made = exports.find(id);
      if (made?.username !== principal.username) throw noExport();
      exports.end(id);
      // Not its id, which opens the addresses for whoever reads the log.
      note({ target: made.zipName, ...shownItems(made.files.map(({ item }) => item)) });
      return { status: 200, body: { message: 'the export has ended' } };
    },
  });

/** A range that isn't the first one (RFC 9110 §14.1.2). */
const BEHIND_START = /^bytes=0*(?:[1-9]|-)/;
const MAX_BEGUN = 1_000;

/** Browsers download what has an address: this one is a secret, so that it needs no token. */
const downloadRoute = ({ cameras, exports, viewers }: ExportRoutesDeps): Route => {
  const contentType = ['video/mp4', 'application/zip'];
  /** Who has begun to download what, so that the ranges which follow aren't told of as well. */
  const begun = new WeakMap<object, Set<string>>();
  const goesOn = (made: object, filename: string, request: Request): boolean => {
    const known = begun.get(made) ?? new Set();
    begun.set(made, known);
    const key = `${request.ip ?? ''} ${filename}`;
    if (BEHIND_START.test(request.headers.range ?? '') && known.has(key)) return true;
    if (request.method !== 'HEAD' && known.size < MAX_BEGUN) known.add(key);
    return false;
  };
  return route({
    method: 'get',
    path: '/exports/:id/:filename',
    access: 'public',
    audit: 'download_export',
    summary: 'A file of an export, whole or a range of it, for whoever has its address',
    params: downloadParams,
    answers: {
      200: { description: 'The file', contentType },
      206: { description: 'The range that was asked for', contentType },
      304: { description: 'The file that the client has', contentType: null },
    },
    problems: [404, 410, 416, 503],
    handle: ({ params: { id, filename }, note }) => {
      const made = exports.find(id);
      const isZip = made?.zipName === filename;
      const files = made?.files.filter(({ name }) => isZip || name === filename) ?? [];
      if (made === null || files.some(({ item }) => !cameras.has(item.cameraId))) throw noExport();
      note({ target: filename, user: made.username, ...shownItems(files.map(({ item }) => item)) });
      return {
        write: async (request, response) => {
          if (goesOn(made, filename, request)) note(null);
          // Who made it, whoever downloads it.
          const sendAll = async (): Promise<void> => {
            const content = await exports.content(made, filename);
            if (content === null) throw noExport();
            await sendClip(content, filename, request, response, isZip ? contentType[1] : contentType[0]);
          };
          const shows = files.map(({ item }) => item.cameraId);
          await whileAllowed(viewers, null, made.username, response, sendAll, shows);
        },
      };
    },
  });
};

/** What is taken along: MP4 files of several cameras, and all of them in one. */
export const exportRoutes = (deps: ExportRoutesDeps): Route[] => [
  makeRoute(deps),
  endRoute(deps),
  downloadRoute(deps),
];
