import type { SeenObject } from '../../objects/seen-object.js';

/** Which model, and what stands beside it (JSON); null: nothing does. */
export type ModelToLoad = {
  readonly address: string;
  readonly sizeBytes: number;
  readonly description: string | null;
};

/** To the worker: first the model, then picture after picture, each when the one before was answered. */
export type ToModelWorker =
  | { readonly op: 'load'; readonly model: ModelToLoad }
  | { readonly op: 'look'; readonly picture: ImageBitmap };

/**
 * Why a model doesn't run: `runtime`, `model`: one of both couldn't be fetched, or not started; `kind`: it runs, but its
 * answers are none that we know.
 */
export type ModelFault = 'runtime' | 'model' | 'kind';

export type FromModelWorker =
  | { readonly op: 'loading'; readonly runtimeBytes: number; readonly modelBytes: number }
  | { readonly op: 'ready' }
  | { readonly op: 'seen'; readonly objects: readonly SeenObject[]; readonly tookMs: number }
  | { readonly op: 'fault'; readonly fault: ModelFault; readonly detail: string };
