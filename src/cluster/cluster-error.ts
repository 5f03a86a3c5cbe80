import { AppError } from '../base/errors.js';

/** `cluster_unavailable` and `box_unreachable` may pass; `cluster_key_wrong` and `box_here` need a person. */
export type ClusterErrorCode = 'cluster_unavailable' | 'cluster_key_wrong' | 'box_unreachable' | 'box_here';

export const clusterError = (
  code: ClusterErrorCode,
  message: string,
  cause?: unknown,
): AppError<ClusterErrorCode> => new AppError(code, message, { cause });
