import type { SeenObject } from '../player/seen.js';
import { call } from './session.js';

/** What was detected in a recorded picture; no objects: what was seen before is there no more. */
export type RecordedDetection = { readonly atMs: number; readonly objects: readonly SeenObject[] };

type Answered = { readonly t: string; readonly objects: readonly SeenObject[] };

const LIMIT = 1_000;
/** Of a minute: more would be a hundred pictures a second. */
const MAX_PAGES = 6;
const LINK_NEXT = /<([^>]+)>;\s*rel="next"/;

/** All of a time, oldest first. */
export const loadDetections = async (
  camera: string,
  fromMs: number,
  toMs: number,
  signal: AbortSignal,
): Promise<RecordedDetection[]> => {
  const query = new URLSearchParams({
    from: new Date(fromMs).toISOString(),
    to: new Date(toMs).toISOString(),
    limit: String(LIMIT),
  });
  let path: string | undefined = `/api/cameras/${encodeURIComponent(camera)}/detections?${query}`;
  const found: RecordedDetection[] = [];
  for (let pages = 0; path !== undefined && pages < MAX_PAGES; pages += 1) {
    const answer: Response = await call('GET', path, { signal });
    const rows = (await answer.json()) as Answered[];
    found.push(...rows.map(({ t, objects }) => ({ atMs: Date.parse(t), objects })));
    path = LINK_NEXT.exec(answer.headers.get('link') ?? '')?.[1];
  }
  return found;
};
