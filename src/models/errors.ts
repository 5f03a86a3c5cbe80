/** What can go wrong between a request for a model file and its bytes. */
export type ModelErrorCode =
  | 'model_name_invalid'
  | 'model_not_found'
  | 'model_origin_failed'
  | 'model_storage_failed'
  | 'model_fetches_busy'
  | 'range_not_satisfiable';

/** The HTTP status of each; those of 503 are worth another try in a few seconds. */
export const modelErrorStatus: Readonly<Record<ModelErrorCode, number>> = {
  model_name_invalid: 400,
  model_not_found: 404,
  model_origin_failed: 502,
  model_storage_failed: 503,
  model_fetches_busy: 503,
  range_not_satisfiable: 416,
};
