import { isPasswordHash } from '../auth/passwords.js';
import type { Configuration } from '../store/store.js';

/** What of a snapshot says how its records hang together. */
type Outline = {
  readonly cameras: readonly { readonly id: string }[];
  readonly tags: readonly { readonly id: string }[];
  readonly folders: readonly { readonly id: string; readonly parent_id: string }[];
  readonly users: readonly {
    readonly username: string;
    readonly role: string;
    readonly isLimited: boolean;
  }[];
  readonly keys: readonly {
    readonly id: string;
    readonly name: string;
    readonly secret_hash: string;
    readonly role: string;
    readonly isLimited: boolean;
  }[];
  readonly layouts: readonly { readonly id: string; readonly owner: string; readonly shared: boolean }[];
  readonly webhooks: readonly { readonly id: string }[];
};

/** One thing that is wrong with a snapshot, and where, such as `folders[3].parent_id`. */
export type SnapshotFault = { readonly path: string; readonly message: string };

const repeated = (list: string, key: string, ids: readonly string[]): SnapshotFault[] => {
  const seen = new Set<string>();
  return ids.flatMap((id, index) => {
    if (seen.has(id))
      return [
        {
          path: `${list}[${index}].${key}`,
          message: key === 'secret_hash' ? 'is there twice' : `${id} is there twice`,
        },
      ];
    seen.add(id);
    return [];
  });
};

/** Ids of the folders that are their own ancestors: each path upwards is walked once. */
const foldersInCycles = (folders: Outline['folders']): Set<string> => {
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

const folderFaults = (folders: Outline['folders']): SnapshotFault[] => {
  const ids = new Set(folders.map(({ id }) => id));
  const inCycle = foldersInCycles(folders);
  return folders.flatMap(({ id, parent_id }, index) => {
    const path = `folders[${index}].parent_id`;
    if (parent_id !== '' && !ids.has(parent_id))
      return [{ path, message: `there is no folder ${parent_id} in the snapshot` }];
    return inCycle.has(id) ? [{ path, message: `the folder ${id} is its own ancestor` }] : [];
  });
};

const textOf = (item: unknown, name: string, fallback: string): string => {
  const value: unknown = typeof item === 'object' && item !== null ? Reflect.get(item, name) : undefined;
  return typeof value === 'string' ? value : fallback;
};

const itemsOf = (input: unknown, list: string): unknown[] => {
  const items: unknown = typeof input === 'object' && input !== null ? Reflect.get(input, list) : undefined;
  return Array.isArray(items) ? items : [];
};

const isLimited = (item: unknown): boolean =>
  typeof item === 'object' &&
  item !== null &&
  ['folders', 'cameras'].some((name) => (Reflect.get(item, name) ?? null) !== null);

/** Whoever manages users would lift the own limit. */
const limitFaults = ({ users, keys }: Outline): SnapshotFault[] =>
  Object.entries({ users, keys }).flatMap(([list, items]) =>
    items.flatMap(({ role, isLimited: limited }, index) =>
      limited && role === 'admin'
        ? [
            {
              path: `${list}[${index}].role`,
              message: 'an admin sees everything: only other roles are limited',
            },
          ]
        : [],
    ),
  );

/**
 * The outline of a snapshot, however broken its records are otherwise: so that all faults can be told at once. A
 * record without an id gets one that is nobody else's.
 */
const outlineOf = (input: unknown): Outline => ({
  cameras: itemsOf(input, 'cameras').map((item, index) => ({ id: textOf(item, 'id', `#${index}`) })),
  tags: itemsOf(input, 'tags').map((item, index) => ({ id: textOf(item, 'id', `#${index}`) })),
  folders: itemsOf(input, 'folders').map((item, index) => ({
    id: textOf(item, 'id', `#${index}`),
    parent_id: textOf(item, 'parent_id', ''),
  })),
  users: itemsOf(input, 'users').map((item, index) => ({
    username: textOf(item, 'username', `#${index}`),
    role: textOf(item, 'role', ''),
    isLimited: isLimited(item),
  })),
  keys: itemsOf(input, 'keys').map((item, index) => ({
    id: textOf(item, 'id', `#${index}`),
    name: textOf(item, 'name', `#${index}`),
    secret_hash: textOf(item, 'secret_hash', `#${index}`),
    role: textOf(item, 'role', ''),
    isLimited: isLimited(item),
  })),
  layouts: itemsOf(input, 'layouts').map((item, index) => ({
    id: textOf(item, 'id', `#${index}`),
    owner: textOf(item, 'owner', ''),
    shared: typeof item === 'object' && item !== null && Reflect.get(item, 'shared') === true,
  })),
  webhooks: itemsOf(input, 'webhooks').map((item, index) => ({ id: textOf(item, 'id', `#${index}`) })),
});

/** What is shared may be nobody's. */
const ownerFaults = ({ layouts, users }: Outline): SnapshotFault[] => {
  const usernames = new Set(users.map(({ username }) => username));
  return layouts.flatMap(({ owner, shared }, index) =>
    usernames.has(owner) || (shared && owner === '')
      ? []
      : [{ path: `layouts[${index}].owner`, message: `there is no user ${owner} in the snapshot` }],
  );
};

const outlineFaults = (snapshot: Outline): SnapshotFault[] => [
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
  ...repeated(
    'layouts',
    'id',
    snapshot.layouts.map(({ id }) => id),
  ),
  ...ownerFaults(snapshot),
  ...repeated(
    'webhooks',
    'id',
    snapshot.webhooks.map(({ id }) => id),
  ),
  ...(['id', 'name', 'secret_hash'] as const).flatMap((key) =>
    repeated(
      'keys',
      key,
      snapshot.keys.map((one) => one[key]),
    ),
  ),
  ...limitFaults(snapshot),
];

/** Every fault between the records of a snapshot, whatever is wrong within them. */
export const faultsBetween = (snapshot: unknown): SnapshotFault[] => outlineFaults(outlineOf(snapshot));

/** Password hashes that nobody could log in by, or that cost too much to check. */
export const hashFaults = ({ users }: Pick<Configuration, 'users'>): SnapshotFault[] =>
  users.flatMap(({ password_hash }, index) =>
    isPasswordHash(password_hash)
      ? []
      : [{ path: `users[${index}].password_hash`, message: 'is not a password hash of this service' }],
  );
