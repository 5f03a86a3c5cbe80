import type { Camera, NewCamera } from '../../../data/types.js';

/** What is changed of one of many. */
export type Update = { readonly id: string } & Partial<Omit<NewCamera, 'id'>>;

type Settable = Pick<
  Camera,
  'record' | 'retention_days' | 'folder_id' | 'tags' | 'token_auth' | 'disabled' | 'on_demand'
>;
export type Change = Partial<{ readonly [Name in keyof Settable]: Settable[Name] }>;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Tags that all get, or lose; those that they have besides stay. */
export const withTags = (
  { tags }: Pick<Camera, 'tags'>,
  added: readonly string[],
  removed: readonly string[],
): Change => ({
  tags: [...new Set([...tags.filter((tag) => !removed.includes(tag)), ...added])],
});

export type Plan = {
  readonly updates: readonly Update[];
  /** What brings them back to what they were. */
  readonly undo: readonly Update[];
};

/** Changes of those that aren't so already. */
export const planOf = (cameras: readonly Camera[], changeOf: (camera: Camera) => Change): Plan => {
  const updates: Update[] = [];
  const undo: Update[] = [];
  for (const camera of cameras) {
    const entries = Object.entries(changeOf(camera)).filter(
      ([name, value]) => !isSame(camera[name as keyof Settable], value),
    );
    if (entries.length === 0) continue;
    updates.push({ id: camera.id, ...Object.fromEntries(entries) });
    undo.push({
      id: camera.id,
      ...Object.fromEntries(entries.map(([name]) => [name, camera[name as keyof Settable]])),
    });
  }
  return { updates, undo };
};

/** As many as the service changes at once. */
const MAX_BATCH = 1_000;

export const batchesOf = <Thing>(things: readonly Thing[]): (readonly Thing[])[] =>
  Array.from({ length: Math.ceil(things.length / MAX_BATCH) }, (_, nth) =>
    things.slice(nth * MAX_BATCH, (nth + 1) * MAX_BATCH),
  );
