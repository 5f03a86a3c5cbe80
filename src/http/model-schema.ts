import { z } from 'zod';
import type { ListedModel } from '../models/list.js';
import { outputKinds } from '../objects/read-output.js';

const side = z.int().meta({ description: 'pixels' });

/** A model, and what is known of it before it runs; what is null is seen in its graph. */
export const modelSchema = z
  .object({
    name: z.string().meta({ description: 'its file, at /models/<name>' }),
    size_bytes: z.int(),
    description: z
      .object({
        labels: z.array(z.string()).nullable(),
        width: side.nullable(),
        height: side.nullable(),
        color: z.enum(['rgb', 'bgr']).nullable(),
        scale: z.number().nullable().meta({ description: 'what each byte of a picture is multiplied with' }),
        output: z.enum(outputKinds).nullable(),
        min_score: z.number(),
        max_overlap: z.number(),
      })
      .nullable()
      .meta({ description: 'what stands beside it; null: nothing does, or nothing of use' }),
    problem: z.string().meta({ description: 'why what stands beside it is of no use; "" where it is' }),
  })
  .meta({ id: 'Model' });

export const modelView = ({
  filename,
  sizeBytes,
  description,
  problem,
}: ListedModel): z.infer<typeof modelSchema> => ({
  name: filename,
  size_bytes: sizeBytes,
  description:
    description === null
      ? null
      : {
          labels: description.labels === null ? null : [...description.labels],
          width: description.input?.width ?? null,
          height: description.input?.height ?? null,
          color: description.color,
          scale: description.scale,
          output: description.output,
          min_score: description.minScore,
          max_overlap: description.maxOverlap,
        },
  problem,
});
