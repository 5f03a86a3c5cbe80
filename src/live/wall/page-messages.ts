import { z } from 'zod';
import { streamNames } from '../../ring/source-key.js';

export const MAX_TILES = 64;

const tileSchema = z.strictObject({
  /** The page's own number of it. */
  tile: z.int().min(0).max(0xffff),
  camera: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, 'must be the id of a camera'),
  stream: z.enum(streamNames),
  mode: z.enum(['all', 'key', 'off']),
  /** The more important, the larger. */
  priority: z.int().min(0).max(0xffff).default(0),
  sound: z.boolean().default(false),
  /** Whether the page hears what is detected in its pictures. */
  detections: z.boolean().default(false),
});

const tilesSchema = z.strictObject({
  op: z.literal('tiles'),
  rev: z.int().min(0).max(0xffff_ffff),
  tiles: z
    .array(tileSchema)
    .max(MAX_TILES)
    .refine(
      (tiles) => new Set(tiles.map(({ tile }) => tile)).size === tiles.length,
      'a tile stands there twice',
    ),
});

/** What one tile is to show. */
export type WantedTile = z.infer<typeof tileSchema>;
/** All that a page wants, which replaces what it wanted before. */
export type WantedTiles = z.infer<typeof tilesSchema>;

/** What a text says, or in a sentence why it says nothing. */
export const readTiles = (text: string): WantedTiles | string => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'the text is no JSON';
  }
  const read = tilesSchema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const where = issue?.path.join('.') ?? '';
  return `${where === '' ? '' : `${where}: `}${issue?.message ?? 'not what was expected'}`.slice(0, 256);
};

const TAKEN = 0x21;
const TAKEN_BYTES = 12;

/** How much the page has taken since the socket opened, or null: the message says something else. */
export const readTaken = (message: Buffer): { readonly messages: number; readonly bytes: number } | null => {
  if (message.length !== TAKEN_BYTES || message.readUInt32BE(0) !== TAKEN * 0x100_0000) return null;
  return { messages: message.readUInt32BE(4), bytes: message.readUInt32BE(8) };
};
