import type { Request } from 'express';
import { may, mayRole, type Permission, type Role } from '../auth/permissions.js';
import { bearerTokenOf, type Principal } from '../auth/tokens.js';
import { httpError } from './problem.js';

/**
/**
 * Who may use a route: everybody, a page of ours whose browser is signed in (`session`), whoever holds a wall token
 * (`wall`), the roles that have a permission, or whoever may watch the camera `:id`. The latter is open to all unless
 * the camera has `token_auth`. `stream` lets in one request of a player that polls, `connection` holds a place for a
 * player that stays.
 */
export type Access = 'public' | 'session' | 'wall' | Permission | WatchAccess;
export type WatchAccess = 'stream' | 'connection';

/** Tells who holds an access token; throws where nobody does. */
export type TokenVerifier = { verifyAccess(token: string | null, address?: string): Principal };

/** All roles, in the order of the interface. */
export const roles = ['viewer', 'operator', 'admin', 'service'] as const satisfies readonly Role[];

/** The roles that have a permission, for the document. */
export const rolesOf = (permission: Permission): Role[] => roles.filter((role) => mayRole(role, permission));

/** Whether a route's access is decided by the camera that it shows. */
export const isWatchAccess = (access: Access): access is WatchAccess =>
  access === 'stream' || access === 'connection';

/** Who asks, if the request's token is good and its role has the permission. */
export const authorize = (tokens: TokenVerifier, request: Request, permission: Permission): Principal => {
  const principal = tokens.verifyAccess(bearerTokenOf(request.headers.authorization), request.ip ?? '');
  if (!may(principal, permission)) {
    const isByRole = !mayRole(principal.role, permission);
    const who = isByRole ? `the role ${principal.role}` : principal.isKey ? 'a key' : 'whoever is limited';
    throw httpError('forbidden', `${who} may not do this`);
  }
  return principal;
};

/** The permission that a route's role must have, where a role decides. */
export const rolePermissionOf = ({ access }: { readonly access: Access }): Permission | null =>
  access === 'public' || access === 'session' || access === 'wall' || isWatchAccess(access) ? null : access;
