import { AppError } from '../base/errors.js';

/** `cluster_unavailable` and `box_unreachable` may pass; `cluster_key_wrong` needs a person. */
export type ClusterErrorCode = 'cluster_unavailable' | 'cluster_key_wrong' | 'box_unreachable';

export const clusterError = (
  code: ClusterErrorCode,
  message: string,
  cause?: unknown,
): AppError<ClusterErrorCode> => new AppError(code, message, { cause });
