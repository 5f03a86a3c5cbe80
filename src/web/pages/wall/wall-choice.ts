import type { Layout } from '../../data/layouts.js';
import type { Camera, Folder, Tag } from '../../data/types.js';
import { wallText } from '../../text/wall.js';
import type { Grid } from './slots.js';

/** A wall that can be shown: of all cameras, of a folder, of a tag, or as somebody arranged it. */
export type WallChoice = {
  /** As it stands in the address. */
  readonly name: string;
  readonly title: string;
  /** Null: as the number of cameras suggests. */
  readonly grid: Grid | null;
  /** Null: a tile that is left empty. */
  readonly cameraIds: readonly (string | null)[];
  readonly layout: Layout | null;
};

export type WallSources = {
  readonly cameras: readonly Camera[];
  readonly folders: readonly Folder[];
  readonly tags: readonly Tag[];
  /** Null: not known yet. */
  readonly layouts: readonly Layout[] | null;
};

/** The folder and all below it, however deep. */
const foldersBelow = (id: string, folders: readonly Folder[]): ReadonlySet<string> => {
  const found = new Set([id]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const folder of folders) if (found.has(folder.parent_id)) found.add(folder.id);
  }
  return found;
};

const inFolder = (id: string, { cameras, folders }: WallSources): string[] => {
  const below = foldersBelow(id, folders);
  return cameras.filter(({ folder_id }) => below.has(folder_id)).map((camera) => camera.id);
};

const withTag = (id: string, { cameras }: WallSources): string[] =>
  cameras.filter(({ tags }) => tags.includes(id)).map((camera) => camera.id);

const ofLayout = (layout: Layout, sources: WallSources): WallChoice => {
  const { id: name, name: title, grid, source, tiles } = layout;
  const cameraIds =
    source.kind === 'hand'
      ? tiles.map(({ camera_id }) => (camera_id === '' ? null : camera_id))
      : source.kind === 'folder'
        ? inFolder(source.id, sources)
        : withTag(source.id, sources);
  return { name, title, grid, cameraIds, layout };
};

/** What a name means; null: that isn't known yet. What is gone is the wall of all cameras. */
export const wallOf = (name: string, sources: WallSources): WallChoice | null => {
  const [, kind, id = ''] = /^(folder|tag):(.*)$/.exec(name) ?? [];
  const common = { name, grid: null, layout: null };
  if (kind === 'folder') {
    const folder = sources.folders.find((each) => each.id === id);
    return {
      ...common,
      title: wallText('folder', { name: folder?.name ?? id }),
      cameraIds: inFolder(id, sources),
    };
  }
  if (kind === 'tag') {
    const tag = sources.tags.find((each) => each.id === id);
    return { ...common, title: wallText('tag', { name: tag?.name ?? id }), cameraIds: withTag(id, sources) };
  }
  if (name !== 'all') {
    if (sources.layouts === null) return null;
    const layout = sources.layouts.find((each) => each.id === name);
    if (layout !== undefined) return ofLayout(layout, sources);
  }
  return {
    ...common,
    name: 'all',
    title: wallText('all'),
    cameraIds: sources.cameras.map((camera) => camera.id),
  };
};
