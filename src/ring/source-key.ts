/** Which of a camera's streams is meant: its own, or the smaller one beside it. */
export const streamNames = ['main', 'sub'] as const;

export type StreamName = (typeof streamNames)[number];

/** No id of a camera holds a slash. */
const SUB = '/sub';

/**
 * What a source of frames is called wherever rings, feeds and viewers are told apart: a camera has one source, or two,
 * each with its ring. The main one is called as the camera.
 */
export const sourceKey = (cameraId: string, stream: StreamName): string =>
  stream === 'main' ? cameraId : cameraId + SUB;

/** Both that a camera may have, the main one first. */
export const sourceKeysOf = (cameraId: string): readonly string[] =>
  streamNames.map((stream) => sourceKey(cameraId, stream));

export const streamOf = (key: string): StreamName => (key.endsWith(SUB) ? 'sub' : 'main');

export const cameraIdOf = (key: string): string => (key.endsWith(SUB) ? key.slice(0, -SUB.length) : key);

/** What a log record says of a source. */
export const sourceFields = (key: string): { readonly camera_id: string; readonly stream?: StreamName } =>
  streamOf(key) === 'main' ? { camera_id: key } : { camera_id: cameraIdOf(key), stream: 'sub' };
