import type { Tokens } from '../../auth/tokens.js';
import { type Route, route } from '../route.js';
import { tokenSchema } from '../schemas.js';

/** What opens a wall. */
export const wallRoutes = ({ tokens }: { readonly tokens: Pick<Tokens, 'issueWall'> }): Route[] => [
  route({
    method: 'get',
    path: '/api/wall-token',
    access: 'wall.open',
    summary: 'A token to open a wall with (`/stream/wall?token=`), good for 60 s',
    answers: { 200: { description: 'A wall token', schema: tokenSchema } },
    handle: ({ principal }) => ({ status: 200, body: { token: tokens.issueWall(principal) } }),
  }),
];
