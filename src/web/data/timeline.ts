import { call } from './session.js';

/** What the service tells of a camera's time; all times are in ms since 1970. */
export type TimelineLane = {
  readonly recorded: readonly (readonly [number, number])[];
  readonly gaps: readonly (readonly [number, number, string])[];
  /** What only boxes have that are away, with their names; it is in `recorded` as well. */
  readonly away?: readonly (readonly [number, number, string])[];
  readonly motion: readonly number[];
  readonly labels: Readonly<Record<string, readonly number[]>>;
};

export type Timeline = { readonly tag: string; readonly lanes: Readonly<Record<string, TimelineLane>> };

const isoOf = (timeMs: number): string => new Date(timeMs).toISOString();

/** What cameras have of a time; null: still what was told with `tag`. */
export const loadTimeline = async (
  cameras: readonly string[],
  { fromMs, toMs, bucketMs }: { readonly fromMs: number; readonly toMs: number; readonly bucketMs: number },
  tag: string | null,
): Promise<Timeline | null> => {
  const query = new URLSearchParams(cameras.map((id): [string, string] => ['camera', id]));
  query.set('from', isoOf(fromMs));
  query.set('to', isoOf(toMs));
  query.set('bucket_ms', String(bucketMs));
  const answer = await call('GET', `/api/timeline?${query}`, tag === null ? {} : { ifNoneMatch: tag });
  if (answer.status === 304) return null;
  return { tag: answer.headers.get('etag') ?? '', lanes: (await answer.json()) as Timeline['lanes'] };
};

/** A recorded moment as JPEG, or what the camera sees now (`atMs` null); null: there is none, or the service can't make one. */
export const loadMoment = async (
  camera: string,
  atMs: number | null,
  width: number,
  signal: AbortSignal,
): Promise<Blob | null> => {
  const query = new URLSearchParams({ width: String(width) });
  if (atMs !== null) query.set('at', isoOf(atMs));
  try {
    const path = `/api/cameras/${encodeURIComponent(camera)}/snapshot.jpg?${query}`;
    return await (await call('GET', path, { signal })).blob();
  } catch {
    return null;
  }
};
