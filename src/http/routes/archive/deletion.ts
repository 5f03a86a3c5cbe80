import { z } from 'zod';
import { AppError } from '../../../base/errors.js';
import { invalidInput } from '../../problem.js';
import { type Route, route } from '../../route.js';
import { idParams } from '../../schemas.js';
import { instantSchema } from '../../time-range.js';
import { type KnownIds, knownCamera } from './known-camera.js';

/** What gets rid of recordings. */
export type RecordingDeletions = {
  /** How many were deleted. */
  deleteWithin(cameraId: string, fromMs: number, toMs: number): Promise<number>;
};

export type DeletionRouteDeps = {
  readonly cameras: KnownIds;
  /** Cameras that are no more, but whose recordings may be there. */
  readonly deleted: KnownIds;
  readonly deletions: RecordingDeletions;
};

/** What is listed is cut to the millisecond: of the last one all is meant. */
const REST_OF_A_MS = 1 - 2 ** -12;

const deletedSchema = z.strictObject({ message: z.string(), deleted: z.int().nonnegative() });

/** Another box keeps some, and the rest is gone. */
const isPartly = (fault: unknown): fault is AppError =>
  fault instanceof AppError && fault.code === 'partly_deleted';

/** Recordings of a camera that was deleted can be deleted, too. */
export const deletionRoute = ({ cameras, deleted, deletions }: DeletionRouteDeps): Route =>
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
    handle: async ({ params, query: { from, to }, note }) => {
      note({ from: new Date(from).toISOString(), to: new Date(to).toISOString() });
      const id = knownCamera(params.id, cameras, deleted);
      if (from >= to) throw invalidInput([{ path: 'from', message: 'must be before "to"' }]);
      const count = await deletions.deleteWithin(id, from, to + REST_OF_A_MS).catch((fault: unknown) => {
        if (isPartly(fault)) note({ deleted: Number(fault.details['deleted']) });
        throw fault;
      });
      note({ deleted: count });
      return { status: 200, body: { message: 'recordings deleted', deleted: count } };
    },
  });
