import type { Camera, Folder } from '../../../data/types.js';

export type SortColumn =
  | 'name'
  | 'state'
  | 'codec'
  | 'size'
  | 'fps'
  | 'bitrate'
  | 'recording'
  | 'viewers'
  | 'folder';

/** Which cameras are shown, and in what order; it stands in the address. */
export type View = {
  readonly text: string;
  /** "": any; `trouble`: whatever somebody should look at. */
  readonly state: string;
  /** "": all; `NO_FOLDER`: those in none. */
  readonly folder: string;
  readonly tag: string;
  /** "": any; `NO_BOX`: those that no box of the cluster has. */
  readonly box: string;
  readonly sort: SortColumn;
  readonly isDescending: boolean;
};

/** Stands for those in no folder; no folder has such an id. */
export const NO_FOLDER = '-';

/** Stands for those of no box; no box is called so. */
export const NO_BOX = '-';

export const sortColumns: readonly SortColumn[] = [
  ...(['name', 'state', 'codec', 'size', 'fps', 'bitrate', 'recording', 'viewers', 'folder'] as const),
];

const MAX_TEXT_CHARS = 200;

export const viewOf = (query: URLSearchParams): View => {
  const sort = (query.get('sort') ?? '').replace(/^-/, '');
  return {
    text: (query.get('find') ?? '').slice(0, MAX_TEXT_CHARS),
    state: query.get('state') ?? '',
    folder: query.get('folder') ?? '',
    tag: query.get('tag') ?? '',
    box: query.get('box') ?? '',
    sort: sortColumns.find((column) => column === sort) ?? 'name',
    isDescending: query.get('sort')?.startsWith('-') === true,
  };
};

/** The parameter that a click on a column's head leads to: sorted by it, or the other way round. */
export const sortAfterClick = ({ sort, isDescending }: View, column: SortColumn): string | null => {
  if (column === sort && !isDescending) return `-${column}`;
  return column === 'name' ? null : column;
};

export const isFiltered = ({ text, state, folder, tag, box }: View): boolean =>
  [text, state, folder, tag, box].some((choice) => choice !== '');

/** What looks bad comes first. */
const severity: Readonly<Record<Camera['state'], number>> = {
  ...{ error: 0, reconnecting: 1, traffic_limited: 2, connecting: 3 },
  ...{ streaming: 4, standby: 5, disabled: 6 },
};

const isTrouble = (state: Camera['state']): boolean => severity[state] <= severity.traffic_limited;

/** A folder and all that are below it, however they are tangled. */
export const folderAndBelow = (folders: readonly Folder[], id: string): ReadonlySet<string> => {
  const found = new Set([id]);
  let before = 0;
  while (found.size > before) {
    before = found.size;
    for (const folder of folders) if (found.has(folder.parent_id)) found.add(folder.id);
  }
  return found;
};

/** What cameras are called, and where they are found. */
export type Names = {
  readonly nameOf: (camera: Camera) => string;
  readonly folders: readonly Folder[];
  readonly tags: readonly { readonly id: string; readonly name: string }[];
};

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

const keyOf = (
  column: SortColumn,
  names: Names,
): { text?: (camera: Camera) => string; number?: (camera: Camera) => number } => {
  switch (column) {
    case 'name':
      return { text: names.nameOf };
    case 'codec':
      return { text: ({ codec }) => codec };
    case 'folder': {
      const folderNames = new Map(names.folders.map(({ id, name }) => [id, name]));
      return { text: ({ folder_id: id }) => folderNames.get(id) ?? id };
    }
    case 'state':
      return { number: ({ state }) => severity[state] };
    case 'size':
      return { number: ({ width, height }) => width * height };
    case 'fps':
      return { number: ({ fps }) => fps };
    case 'bitrate':
      return { number: ({ bitrate }) => bitrate };
    case 'recording':
      return { number: ({ recording, record }) => (recording ? 0 : record ? 1 : 2) };
    case 'viewers':
      return { number: ({ viewers }) => viewers };
  }
};

const comparison = (view: View, names: Names): ((a: Camera, b: Camera) => number) => {
  const { text, number } = keyOf(view.sort, names);
  const sign = view.isDescending ? -1 : 1;
  const byId = (a: Camera, b: Camera): number => byName.compare(a.id, b.id);
  if (text !== undefined) return (a, b) => sign * byName.compare(text(a), text(b)) || byId(a, b);
  if (number !== undefined) return (a, b) => sign * (number(a) - number(b)) || byId(a, b);
  return byId;
};

const matcher = (view: View, names: Names): ((camera: Camera) => boolean) => {
  const words = view.text.toLowerCase().split(/\s+/).filter(Boolean);
  const within = view.folder === '' ? null : folderAndBelow(names.folders, view.folder);
  const folderNames = new Map(names.folders.map(({ id, name }) => [id, name.toLowerCase()]));
  const tagNames = new Map(names.tags.map(({ id, name }) => [id, name.toLowerCase()]));
  const isFound = ({ id, comment, folder_id, tags }: Camera): boolean => {
    const own = [folderNames.get(folder_id) ?? '', ...tags.map((tag) => tagNames.get(tag) ?? tag)];
    const text = `${id}\n${comment}\n${own.join('\n')}`.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  return (camera) => {
    const { state, folder_id, tags, owner } = camera;
    if (view.state !== '' && (view.state === 'trouble' ? !isTrouble(state) : state !== view.state))
      return false;
    if (view.folder === NO_FOLDER ? folder_id !== '' : within !== null && !within.has(folder_id))
      return false;
    if (view.box !== '' && owner !== (view.box === NO_BOX ? '' : view.box)) return false;
    if (view.tag !== '' && !tags.includes(view.tag)) return false;
    return words.length === 0 || isFound(camera);
  };
};

/** The cameras of a view, in its order. */
export const shownCameras = (all: readonly Camera[], view: View, names: Names): Camera[] =>
  all.filter(matcher(view, names)).sort(comparison(view, names));
