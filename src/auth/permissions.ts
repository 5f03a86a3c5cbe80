import type { Role } from '../store/users.js';
import type { Principal } from './tokens.js';

export type { Role } from '../store/users.js';

/**
 * Who may do what: the only place where roles are decided. `service` is a machine that manages cameras and hands
 * out stream tokens; it sees neither the list of cameras nor anything of the system.
 */
const table = {
  /** To see who one is, and what one may do. */
  'me.read': ['viewer', 'operator', 'admin', 'service'],
  /** To change the own password, and keep what pages need. */
  'account.own': ['viewer', 'operator', 'admin', 'service'],
  'live.watch': ['viewer', 'operator', 'admin', 'service'],
  /** Lists, playback and exports. */
  'archive.read': ['viewer', 'operator', 'admin', 'service'],
  'archive.delete': ['operator', 'admin', 'service'],
  'stream-tokens.issue': ['viewer', 'operator', 'admin', 'service'],
  'cameras.list': ['viewer', 'operator', 'admin'],
  'cameras.edit': ['operator', 'admin', 'service'],
  /** To connect to one that isn't configured. */
  'cameras.test': ['operator', 'admin', 'service'],
  /** To see the password in a camera's `url`. */
  'camera-credentials.read': ['operator', 'admin', 'service'],
  /** To move one. */
  'ptz.control': ['operator', 'admin'],
  'tags.read': ['viewer', 'operator', 'admin', 'service'],
  'tags.edit': ['operator', 'admin', 'service'],
  'folders.read': ['viewer', 'operator', 'admin', 'service'],
  'folders.edit': ['operator', 'admin', 'service'],
  /** Walls, and layouts of them. */
  'wall.open': ['viewer', 'operator', 'admin'],
  /** To make layouts for oneself. */
  'layouts.edit': ['viewer', 'operator', 'admin'],
  /** To change what all see. */
  'layouts.share': ['operator', 'admin'],
  /** What finds objects; the files are for everybody. */
  'models.list': ['viewer', 'operator', 'admin'],
  'stats.read': ['viewer', 'operator', 'admin'],
  /** What happens, of what the role may see. */
  'events.read': ['viewer', 'operator', 'admin'],
  /** To remember which ones one has seen. */
  'events.review': ['viewer', 'operator', 'admin'],
  /** To keep what was recorded of one, whatever its age. */
  'events.protect': ['operator', 'admin'],
  'logs.read': ['operator', 'admin'],
  'users.manage': ['admin'],
  'keys.manage': ['admin'],
  'settings.manage': ['admin'],
  'webhooks.manage': ['admin'],
  'audit.read': ['admin'],
  /** Which boxes there are, and whose cameras are whose. */
  'cluster.read': ['admin'],
  /** To say that one of them is gone for good. */
  'cluster.manage': ['admin'],
  'backup.manage': ['admin'],
} as const satisfies Readonly<Record<string, readonly Role[]>>;

export type Permission = keyof typeof table;

/** Every permission there is. */
export const PERMISSIONS = Object.keys(table) as readonly Permission[];

/** Whether a role may do it; what isn't in the table is refused. */
export const mayRole = (role: Role, permission: Permission): boolean =>
  (table[permission] as readonly Role[]).includes(role);

/** What nobody may who is limited to some folders: it is about all of them. */
const ofTheWhole: ReadonlySet<Permission> = new Set([
  ...(['tags.edit', 'folders.edit', 'layouts.share'] as const),
  ...([
    'users.manage',
    'keys.manage',
    'webhooks.manage',
    'settings.manage',
    'audit.read',
    'cluster.read',
    'cluster.manage',
    'backup.manage',
  ] as const),
]);

/** What only a person may: a key has no password, no pages and no eyes. */
const ofPersons: ReadonlySet<Permission> = new Set(['account.own', 'layouts.edit', 'events.review']);

/** What of somebody decides. */
export type Rights = Pick<Principal, 'role' | 'limits' | 'isKey'>;

/** Whether a user or a key may do it; what it may do it to is decided in sight.ts. */
export const may = ({ role, limits, isKey }: Rights, permission: Permission): boolean =>
  mayRole(role, permission) &&
  !(limits !== null && ofTheWhole.has(permission)) &&
  !(isKey && ofPersons.has(permission));

/** All that one may do. */
export const permissionsOf = (rights: Rights): readonly Permission[] =>
  PERMISSIONS.filter((permission) => may(rights, permission));
