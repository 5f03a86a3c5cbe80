import { z } from 'zod';
import { checkPasswordRule } from '../auth/passwords.js';

/** Ids of cameras, tags and folders, and usernames. */
export const idSchema = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
    'must be 1 to 64 letters, digits, "_", "." or "-", beginning with a letter or digit',
  );

/** More are hardly a limit. */
const MAX_SEEN = 64;

/** Folders that somebody is limited to. */
export const foldersSchema = z
  .array(idSchema)
  .min(1)
  .max(MAX_SEEN)
  .meta({ description: 'sees what is in these, and in the folders below, alone; absent: everything' });

/** What names one thing in a path. */
export const idParams = z.object({ id: idSchema });

/** Which of a camera's streams a viewer asks for. */
export const streamQuery = z.object({
  stream: z.enum(['main', 'sub']).default('main').meta({
    description: 'sub: the smaller stream of the camera, if it has one; else both are the same',
  }),
});

export type StreamName = z.infer<typeof streamQuery>['stream'];

/** Knows the source of frames that a name means. */
export type StreamSources = { sourceOf(cameraId: string, stream: StreamName): string };

/** RFC 9457. */
export const problemSchema = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    code: z.string().regex(/^[a-z0-9_]+$/),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .meta({ id: 'Problem' });

const isPasswordLong = (password: string): boolean => {
  try {
    checkPasswordRule(password);
    return true;
  } catch {
    return false;
  }
};

/** A password that somebody is to have from now on. */
export const newPasswordSchema = z
  .string()
  .refine(isPasswordLong, 'must have 8 to 256 characters')
  .meta({ minLength: 8, maxLength: 256, format: 'password', writeOnly: true });

/** The answer to a deletion or an import. */
export const messageSchema = z.object({ message: z.string() }).meta({ id: 'Message' });

/** The answer that hands out a token. */
export const tokenSchema = z.object({ token: z.string() }).meta({ id: 'Token' });

const shown = (maxLength: number) => z.string().min(1).max(maxLength);

export const tagSchema = z
  .strictObject({
    id: idSchema,
    name: shown(128),
    color: z.string().regex(/^#[0-9A-Fa-f]{6}$/, 'must be a hex colour such as #1a2B3c'),
  })
  .meta({ id: 'Tag' });

/** What is changed of a tag; its id may be sent along. */
export const tagChangesSchema = tagSchema.partial().meta({ id: 'TagChanges' });

const folderShape = {
  id: idSchema,
  name: shown(128),
  parent_id: z.union([z.literal(''), idSchema], 'must be the id of a folder, or empty'),
};

export const folderSchema = z.strictObject(folderShape).meta({ id: 'Folder' });

/** A root folder may leave its parent out. */
export const newFolderSchema = z
  .strictObject({ ...folderShape, parent_id: folderShape.parent_id.default('') })
  .meta({ id: 'NewFolder' });

/** What is changed of a folder; its id may be sent along. */
export const folderChangesSchema = folderSchema.partial().meta({ id: 'FolderChanges' });
