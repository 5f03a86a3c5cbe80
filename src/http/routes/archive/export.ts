import { z } from 'zod';
import type { Viewers } from '../../../auth/viewers.js';
import type { Clock } from '../../../base/clock.js';
import type { AuditDetails } from '../../audit.js';
import { type Clip, sendClip } from '../../clip-response.js';
import { invalidInput } from '../../problem.js';
import { type Route, route } from '../../route.js';
import { idParams } from '../../schemas.js';
import { instantSchema, rangeOf, type TimeRange } from '../../time-range.js';
import { whileAllowed } from '../../while-allowed.js';
import { type KnownIds, knownCamera } from './known-camera.js';
import {
  boxSchema,
  fileSchema,
  MAX_PLAYED_DAYS,
  type NamedFile,
  namedFile,
  seqOf,
  seqSchema,
} from './recording-name.js';

/** What to export: parts of a recording, by their numbers and both ends included, or a time. */
export type ClipSelection =
  | (NamedFile & { readonly startSeq?: number; readonly endSeq?: number })
  | TimeRange;

/** Recordings as files to keep. */
export type RecordingExports = {
  /** `viewer` is whoever may have no more than his share of them at once. */
  clip(cameraId: string, wanted: ClipSelection, viewer: string): Promise<Clip>;
};

export type ExportRouteDeps = {
  readonly clock: Clock;
  readonly cameras: KnownIds;
  readonly exports: RecordingExports;
  readonly viewers: Pick<Viewers, 'takePlace'>;
};

const exportQuery = z.object({
  file: fileSchema.optional(),
  box: boxSchema.optional(),
  start_seq: seqSchema.optional(),
  end_seq: seqSchema.optional(),
  from: instantSchema.optional(),
  to: instantSchema.optional(),
});

/** What to export; exactly one of the two ways to say it. */
const selectionOf = (query: z.infer<typeof exportQuery>, nowMs: number): ClipSelection => {
  const { file, box, start_seq: start, end_seq: end, from, to } = query;
  const isByTime = from !== undefined || to !== undefined;
  if (file === undefined) {
    if (from === undefined || to === undefined || [box, start, end].some((one) => one !== undefined))
      throw invalidInput([{ path: 'file', message: 'either "file" is needed, or "from" and "to" alone' }]);
    return rangeOf({ from, to }, nowMs, MAX_PLAYED_DAYS);
  }
  if (isByTime) throw invalidInput([{ path: 'file', message: 'goes without "from" and "to"' }]);
  return {
    ...namedFile({ file, box }),
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
  const { fileName: file, box, startSeq: start_seq, endSeq: end_seq } = selection;
  return { file, box, start_seq, end_seq };
};

/** A part of the archive as one file. */
export const exportRoute = ({ clock, cameras, exports, viewers }: ExportRouteDeps): Route => {
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
    handle: ({ params, query, principal: { username }, note }) => {
      const id = knownCamera(params.id, cameras);
      const wanted = selectionOf(query, clock.wallMs());
      note(shownSelection(wanted));
      return {
        write: async (request, response) => {
          const sendAll = async (): Promise<void> => {
            const clip = await exports.clip(id, wanted, username);
            await sendClip(clip, `export_${id}.mp4`, request, response);
          };
          await whileAllowed(viewers, null, username, response, sendAll, [id]);
        },
      };
    },
  });
};
