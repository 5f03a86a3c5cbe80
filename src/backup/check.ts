import type { Camera } from '../store/cameras.js';
import type { Folder } from '../store/folders.js';
import type { Tag } from '../store/tags.js';

/** What of a snapshot says how its records hang together. */
export type SnapshotOutline = {
  readonly cameras: readonly Pick<Camera, 'id'>[];
  readonly tags: readonly Pick<Tag, 'id'>[];
  readonly folders: readonly Pick<Folder, 'id' | 'parent_id'>[];
  readonly users: readonly { readonly username: string; readonly role: string }[];
};

/** One thing that is wrong with a snapshot, and where, such as `folders[3].parent_id`. */
export type SnapshotFault = { readonly path: string; readonly message: string };

const repeated = (list: string, key: string, ids: readonly string[]): SnapshotFault[] => {
  const seen = new Set<string>();
  return ids.flatMap((id, index) => {
    if (seen.has(id)) return [{ path: `${list}[${index}].${key}`, message: `${id} is there twice` }];
    seen.add(id);
    return [];
  });
};

/** Ids of the folders that are their own ancestors: each path upwards is walked once. */
const foldersInCycles = (folders: SnapshotOutline['folders']): Set<string> => {
  const parentOf = new Map(folders.map((folder) => [folder.id, folder.parent_id]));
  const walked = new Set<string>();
  const inCycle = new Set<string>();
  for (const start of parentOf.keys()) {
    const path: string[] = [];
    const onPath = new Set<string>();
    let id = start;
    while (parentOf.has(id) && !walked.has(id)) {
      walked.add(id);
      onPath.add(id);
      path.push(id);
      id = parentOf.get(id) ?? '';
    }
    if (onPath.has(id)) for (const member of path.slice(path.indexOf(id))) inCycle.add(member);
  }
  return inCycle;
};

const folderFaults = (folders: SnapshotOutline['folders']): SnapshotFault[] => {
  const ids = new Set(folders.map(({ id }) => id));
  const inCycle = foldersInCycles(folders);
  return folders.flatMap(({ id, parent_id }, index) => {
    const path = `folders[${index}].parent_id`;
    if (parent_id !== '' && !ids.has(parent_id))
      return [{ path, message: `there is no folder ${parent_id} in the snapshot` }];
    return inCycle.has(id) ? [{ path, message: `the folder ${id} is its own ancestor` }] : [];
  });
};

/** Every fault between the records of a snapshot; that each record has the right shape was checked before. */
export const snapshotFaults = (snapshot: SnapshotOutline): SnapshotFault[] => [
  ...repeated(
    'cameras',
    'id',
    snapshot.cameras.map(({ id }) => id),
  ),
  ...repeated(
    'tags',
    'id',
    snapshot.tags.map(({ id }) => id),
  ),
  ...repeated(
    'folders',
    'id',
    snapshot.folders.map(({ id }) => id),
  ),
  ...folderFaults(snapshot.folders),
  ...repeated(
    'users',
    'username',
    snapshot.users.map(({ username }) => username),
  ),
  ...(snapshot.users.some(({ role }) => role === 'admin')
    ? []
    : [{ path: 'users', message: 'there must be at least one user with the role admin' }]),
];
