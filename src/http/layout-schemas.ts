import { z } from 'zod';
import { idSchema } from './schemas.js';

/** How a wall is divided: rows and columns, or a large picture and small ones around it. */
const GRIDS = ['1x1', '2x2', '3x3', '4x4', '5x5', '6x6', '1+5', '1+7'] as const;

/** As many as a wall's socket carries. */
export const MAX_TILES = 64;
const MAX_TOUR_SEC = 3_600;

const none = z.literal('');

/** What of a layout its maker says. */
const madeShape = {
  name: z.string().min(1).max(128),
  shared: z.boolean(),
  grid: z.enum(GRIDS),
  source: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('hand') }),
    z.strictObject({ kind: z.enum(['folder', 'tag']), id: idSchema }),
  ]),
  tiles: z
    .array(z.strictObject({ camera_id: z.union([none, idSchema], 'must be the id of a camera, or empty') }))
    .max(MAX_TILES),
  tour_sec: z.int().min(0).max(MAX_TOUR_SEC),
  enlarge_on_event: z.boolean(),
};

const storedShape = { id: idSchema, owner: z.union([none, idSchema]), ...madeShape };

/** A layout as a backup holds it. */
export const storedLayoutSchema = z.strictObject(storedShape).meta({ id: 'StoredLayout' });

export type Layout = Omit<z.infer<typeof storedLayoutSchema>, 'tiles'> & {
  readonly tiles: readonly { readonly camera_id: string }[];
};

/** A layout as it is shown. */
export const layoutSchema = z
  .strictObject({ ...storedShape, revision: z.string().describe('its ETag, without the quotes') })
  .meta({ id: 'Layout' });

export const newLayoutSchema = z
  .strictObject({
    name: madeShape.name,
    shared: madeShape.shared.default(false),
    grid: madeShape.grid.default('2x2'),
    source: madeShape.source.default({ kind: 'hand' }),
    tiles: madeShape.tiles.default([]),
    tour_sec: madeShape.tour_sec.default(0),
    enlarge_on_event: madeShape.enlarge_on_event.default(false),
  })
  .meta({ id: 'NewLayout' });

/** What is changed of a layout; what else of it was shown may be sent along. */
export const layoutChangesSchema = z
  .strictObject({ ...madeShape, id: idSchema, owner: z.string(), revision: z.string() })
  .partial()
  .meta({ id: 'LayoutChanges' });
