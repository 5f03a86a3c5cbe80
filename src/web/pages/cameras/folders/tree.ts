import type { Camera, Folder } from '../../../data/types.js';
import { folderAndBelow } from '../table/view.js';

/** A folder as a line of the tree. */
export type Branch = {
  readonly folder: Folder;
  readonly depth: number;
  /** In it, and in all below it. */
  readonly count: number;
};

const byName = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });

/** All folders in the order of a tree. One whose parent is gone, or that is below itself, stands at the root. */
export const branchesOf = (
  folders: readonly Folder[],
  cameras: Iterable<Pick<Camera, 'folder_id'>>,
): Branch[] => {
  const own = new Map<string, number>();
  for (const { folder_id: id } of cameras) own.set(id, (own.get(id) ?? 0) + 1);
  const children = new Map<string, Folder[]>();
  const ids = new Set(folders.map(({ id }) => id));
  for (const folder of [...folders].sort((a, b) => byName.compare(a.name, b.name))) {
    const parent = ids.has(folder.parent_id) ? folder.parent_id : '';
    children.set(parent, [...(children.get(parent) ?? []), folder]);
  }
  const branches: Branch[] = [];
  const seen = new Set<string>();
  const visit = (folder: Folder, depth: number): number => {
    seen.add(folder.id);
    const at = branches.push({ folder, depth, count: 0 }) - 1;
    let count = own.get(folder.id) ?? 0;
    for (const child of children.get(folder.id) ?? [])
      if (!seen.has(child.id)) count += visit(child, depth + 1);
    branches[at] = { folder, depth, count };
    return count;
  };
  for (const root of children.get('') ?? []) visit(root, 0);
  for (const folder of folders) if (!seen.has(folder.id)) visit(folder, 0);
  return branches;
};

/** Whether a folder can go there: not into itself, nor into what is below it, nor where it is. */
export const mayMove = (folders: readonly Folder[], id: string, parentId: string): boolean => {
  const folder = folders.find((each) => each.id === id);
  if (folder === undefined || folder.parent_id === parentId) return false;
  return parentId === '' || !folderAndBelow(folders, id).has(parentId);
};
