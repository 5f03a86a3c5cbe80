import type { Request } from 'express';
import { mayRole, type Permission, type Role } from '../auth/permissions.js';
import { bearerTokenOf, type Principal } from '../auth/tokens.js';
import { httpError } from './problem.js';

/** Who may use a route: everybody, or the roles that have a permission. */
export type Access = 'public' | Permission;

/** Tells who holds an access token; throws where nobody does. */
export type TokenVerifier = { verifyAccess(token: string | null): Principal };

/** All roles, in the order of the interface. */
export const roles = ['viewer', 'operator', 'admin', 'service'] as const satisfies readonly Role[];

/** The roles that have a permission, for the document. */
export const rolesOf = (permission: Permission): Role[] => roles.filter((role) => mayRole(role, permission));

/** Who asks, if the request's token is good and its role has the permission. */
export const authorize = (tokens: TokenVerifier, request: Request, permission: Permission): Principal => {
  const principal = tokens.verifyAccess(bearerTokenOf(request.headers.authorization));
  if (!mayRole(principal.role, permission))
    throw httpError('forbidden', `the role ${principal.role} may not do this`);
  return principal;
};
