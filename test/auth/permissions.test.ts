import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayRole, PERMISSIONS, type Permission } from '../../src/auth/permissions.js';
import { ROLES, type Role } from '../../src/store/users.js';

/** Each line of the interface that names roles, as yes and no in the order viewer, operator, admin, service. */
const matrix: readonly (readonly [what: string, permission: Permission, cells: string])[] = [
  ['5: watch live (WebRTC / HLS)', 'live.watch', 'yes yes yes yes'],
  ['5: view archive', 'archive.read', 'yes yes yes yes'],
  ['5: add, edit, delete cameras', 'cameras.edit', 'no yes yes yes'],
  ['5: manage tags', 'tags.edit', 'no yes yes yes'],
  ['5: manage folders', 'folders.edit', 'no yes yes yes'],
  ['5: manage users and security', 'users.manage', 'no no yes no'],
  ['5: system backup and restore', 'backup.manage', 'no no yes no'],
  ['4.1: GET /api/stats', 'stats.read', 'yes yes yes no'],
  ['4.1: GET /api/logs/stream', 'logs.read', 'no yes yes no'],
  ['4.2: GET /api/cameras', 'cameras.list', 'yes yes yes no'],
  ['4.2: GET stream-token, and for service as decided', 'stream-tokens.issue', 'yes yes yes yes'],
  ['4.3: GET /api/tags, any user', 'tags.read', 'yes yes yes yes'],
  ['4.3: GET /api/folders, any user', 'folders.read', 'yes yes yes yes'],
  ['decided: what is below /api/me', 'account.own', 'yes yes yes yes'],
  ['decided: GET /api/me', 'me.read', 'yes yes yes yes'],
  ['web: POST /api/layouts', 'layouts.edit', 'yes yes yes no'],
  ['decided: /api/keys', 'keys.manage', 'no no yes no'],
  ['web: walls', 'wall.open', 'yes yes yes no'],
  ['web: POST /api/cameras/:id/ptz', 'ptz.control', 'no yes yes no'],
  ['web: shared layouts', 'layouts.share', 'no yes yes no'],
  ['web: GET /api/models', 'models.list', 'yes yes yes no'],
  ['web: /api/settings', 'settings.manage', 'no no yes no'],
  ['web: /api/audit', 'audit.read', 'no no yes no'],
  ['decided: GET /api/cluster', 'cluster.read', 'no no yes no'],
  ['decided: DELETE /api/cluster/boxes/:name', 'cluster.manage', 'no no yes no'],
  ['web: /api/webhooks', 'webhooks.manage', 'no no yes no'],
  ['decided: DELETE /api/cameras/:id/archive', 'archive.delete', 'no yes yes yes'],
  ['decided: POST /api/cameras/test', 'cameras.test', 'no yes yes yes'],
  ['decided: GET /api/events/stream', 'events.read', 'yes yes yes no'],
  ['web: POST /api/events/reviewed', 'events.review', 'yes yes yes no'],
  ['web: PUT /api/events/:id', 'events.protect', 'no yes yes no'],
  ['decided: `url` shows a viewer no password', 'camera-credentials.read', 'no yes yes yes'],
];

const roles: readonly Role[] = ['viewer', 'operator', 'admin', 'service'];

for (const [what, permission, cells] of matrix) {
  test(what, () => {
    const actual = roles.map((role) => (mayRole(role, permission) ? 'yes' : 'no'));
    assert.equal(actual.join(' '), cells);
  });
}

test('every permission and every role is in the matrix', () => {
  assert.deepEqual([...PERMISSIONS].sort(), matrix.map(([, permission]) => permission).sort());
  assert.deepEqual([...ROLES].sort(), [...roles].sort());
});

test('an unknown role may nothing', () => {
  for (const permission of PERMISSIONS) assert.equal(mayRole('root' as Role, permission), false);
});
