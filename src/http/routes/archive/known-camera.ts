import { AppError } from '../../../base/errors.js';

/** Cameras, or those that are no more. */
export type KnownIds = { has(cameraId: string): boolean };

/** The id, if one of these has it; throws `not_found`. */
export const knownCamera = (id: string, ...known: readonly KnownIds[]): string => {
  if (!known.some((ids) => ids.has(id))) throw new AppError('not_found', `there is no camera ${id}`);
  return id;
};
