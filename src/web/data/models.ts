import { api } from './session.js';
import type { Model } from './types.js';

/** The models that the service has. */
export const listModels = (signal: AbortSignal): Promise<readonly Model[]> =>
  api<readonly Model[]>('GET', '/api/models', { signal });
