import { type StreamName, streamNames } from '../../../ring/source-key.js';
import { type Track, tracks } from '../packets/packet-batch.js';
import { trackPath } from '../sdp.js';

/** What a request's URI means. */
export type StreamAddress = {
  readonly cameraId: string;
  /** Null: all tracks together. */
  readonly track: Track | null;
  /** Null: it doesn't say. */
  readonly stream: StreamName | null;
  readonly token: string | null;
  /** Scheme and host as the client wrote them, without a password; "" where it wrote none. */
  readonly origin: string;
};

/** As ids are everywhere (http/schemas.ts). */
const CAMERA_ID = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** An id, a track's name and some slashes. */
const MAX_PATH_LENGTH = 256;

const trackAt = (text: string): { readonly rest: string; readonly track: Track | null } => {
  for (const track of tracks) {
    const end = `/${trackPath[track]}`;
    if (text.endsWith(end)) return { rest: text.slice(0, -end.length), track };
  }
  return { rest: text, track: null };
};

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
};

/**
 * Reads `rtsp://host/<camera>[/trackID=n][?stream=…&token=…]`. Players join a track's name to the address that they have in ways
 * of their own: behind the path, or behind the query. Null: it names no camera.
 */
export const parseStreamAddress = (uri: string): StreamAddress | null => {
  const match = /^(?:(rtsps?:)\/\/(?:[^/?@]*@)?([^/?@]*))?(\/[^?]*)?(?:\?(.*))?$/i.exec(uri);
  if (match === null) return null;
  const [, scheme, authority, path = '', query = ''] = match;
  if (path.length > MAX_PATH_LENGTH) return null;
  const behindQuery = trackAt(query);
  const behindPath = trackAt(path.replace(/\/+$/, ''));
  const cameraId = decoded(behindPath.rest.replace(/^\/+|\/+$/g, ''));
  if (cameraId === null || !CAMERA_ID.test(cameraId)) return null;
  const values = new URLSearchParams(behindQuery.rest);
  const wanted = values.get('stream');
  const stream = streamNames.find((name) => name === wanted) ?? null;
  if (wanted !== null && stream === null) return null;
  return {
    cameraId,
    stream,
    track: behindPath.track ?? behindQuery.track,
    token: values.get('token') || null,
    origin: scheme === undefined ? '' : `${scheme}//${authority}`,
  };
};
