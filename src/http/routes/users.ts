import { z } from 'zod';
import type { Role } from '../../auth/permissions.js';
import { roles } from '../access.js';
import { listAnswers, listPage, pageQuery } from '../list.js';
import { withoutAbsent } from '../optional.js';
import { invalidInput } from '../problem.js';
import { type Route, route } from '../route.js';
import { foldersSchema, idSchema, messageSchema, newPasswordSchema } from '../schemas.js';

type User = { readonly username: string; readonly role: Role; readonly folders?: readonly string[] };

export type UserRoutesDeps = {
  readonly accounts: {
    list(): User[];
    create(account: User & { readonly password: string }): Promise<User>;
    update(
      username: string,
      changes: {
        readonly password?: string;
        readonly role?: Role;
        readonly folders?: readonly string[] | null;
      },
    ): Promise<User>;
    remove(username: string): Promise<void>;
  };
};

const userSchema = z
  .strictObject({ username: idSchema, role: z.enum(roles), folders: foldersSchema.optional() })
  .meta({ id: 'User' });

const newUserSchema = z
  .strictObject({
    username: idSchema,
    password: newPasswordSchema,
    role: z.enum(roles),
    folders: foldersSchema.nullish(),
  })
  .meta({ id: 'NewUser' });

const userChangesSchema = z
  .strictObject({
    username: idSchema.optional(),
    password: newPasswordSchema.optional(),
    role: z.enum(roles).optional(),
    folders: foldersSchema.nullable().optional().meta({ description: 'null: everything is seen again' }),
  })
  .meta({ id: 'UserChanges' });

const userParams = z.object({ username: idSchema });

/** Who may use the service. A change of role or password ends the user's tokens at once. */
export const userRoutes = ({ accounts }: UserRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/users',
    access: 'users.manage',
    summary: 'All users',
    query: pageQuery,
    answers: listAnswers('Users, sorted by name', userSchema),
    handle: ({ query }) => listPage('/api/users', accounts.list(), ({ username }) => username, query),
  }),
  route({
    method: 'post',
    path: '/api/users',
    access: 'users.manage',
    audit: 'create_user',
    summary: 'Add a user, who sees everything unless folders are named',
    body: newUserSchema,
    answers: { 201: { description: 'The user', schema: userSchema } },
    problems: [409, 429, 503],
    handle: async ({ body, note }) => {
      const { folders, ...user } = body;
      note({ target: body.username, role: body.role, ...(folders && { folders }) });
      return { status: 201, body: await accounts.create(folders ? { ...user, folders } : user) };
    },
  }),
  route({
    method: 'put',
    path: '/api/users/:username',
    access: 'users.manage',
    audit: 'update_user',
    summary: 'Change the password, the role, the folders that are seen; 409 for the last admin',
    params: userParams,
    body: userChangesSchema,
    answers: { 200: { description: 'The user', schema: userSchema } },
    problems: [404, 409, 429, 503],
    handle: async ({ params: { username }, body: { username: repeated, ...changes }, note }) => {
      if (repeated !== undefined && repeated !== username)
        throw invalidInput([{ path: 'username', message: 'the name of a user can not be changed' }]);
      const present = withoutAbsent(changes);
      note({
        fields: Object.keys(present).sort(),
        ...(present.role && { role: present.role }),
        ...(present.folders && { folders: present.folders }),
      });
      return { status: 200, body: await accounts.update(username, present) };
    },
  }),
  route({
    method: 'delete',
    path: '/api/users/:username',
    access: 'users.manage',
    audit: 'delete_user',
    summary: 'Remove a user; 409 for the last admin',
    params: userParams,
    answers: { 200: { description: 'Done', schema: messageSchema } },
    problems: [404, 409, 503],
    handle: async ({ params }) => {
      await accounts.remove(params.username);
      return { status: 200, body: { message: 'user deleted' } };
    },
  }),
];
