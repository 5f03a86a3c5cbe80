import { z } from 'zod';
import { isBoxName } from '../../base/box-name.js';
import { type Route, route } from '../route.js';

export const clusterSchema = z
  .object({
    box: z.string().meta({ description: 'the one that answers' }),
    is_alone: z.boolean().meta({ description: 'whether it belongs to no cluster' }),
    fault: z
      .string()
      .meta({ description: 'what is wrong with the cluster, as this box sees it; empty: nothing' }),
    has_majority: z.boolean().meta({ description: 'whether it may take what others lose' }),
    cameras_unowned: z.int().meta({ description: 'connected by no box' }),
    cameras_doubled: z.int().meta({ description: 'connected by more than one' }),
    awaited: z.array(z.string()).meta({
      description: 'boxes that there were before this one started, and that it has not heard since',
    }),
    boxes: z.array(
      z.object({
        name: z.string(),
        state: z.enum(['here', 'leaving', 'lost']),
        since_sec: z.int().meta({ description: 'for how long it has been here, or lost' }),
        address: z.string().meta({ description: 'BOX_ADDRESS; empty: it has none' }),
        version: z.string(),
        capacity: z.int(),
        load: z.number().meta({ description: 'of all its cores: 1 is as much as they can do' }),
        cameras: z.int(),
        clock_ahead_sec: z.number().nullable().meta({
          description:
            'how far its clock is ahead of that of the box that answers (less than 0: behind); null: not known',
        }),
        s3: z
          .object({
            up: z.boolean().meta({ description: 'whether the store answered last time' }),
            waiting: z.int().meta({ description: 'recordings that are not there yet' }),
            oldest_sec: z.int().meta({ description: 'how long the first of them has waited' }),
          })
          .nullable()
          .meta({ description: 'what waits to be copied to ARCHIVE_S3; null: the box copies nothing' }),
        hears: z.array(z.string()).meta({ description: 'the other boxes that it hears' }),
      }),
    ),
  })
  .meta({ id: 'Cluster' });

export type ClusterAnswer = z.infer<typeof clusterSchema>;

export type ClusterRoutesDeps = {
  readonly cluster: () => ClusterAnswer;
  /** Returns the boxes that couldn't be told; throws `not_found`, `box_here`. */
  readonly forget: (name: string) => Promise<readonly string[]>;
};

const boxParams = z.object({
  name: z.string().refine(isBoxName, 'must be the name of a box'),
});

const forgottenSchema = z.object({
  message: z.string(),
  untold: z
    .array(z.string())
    .meta({ description: 'boxes that could not be told, and count it for 10 minutes more' }),
});

/** The boxes, as the one sees them that is asked. */
export const clusterRoutes = ({ cluster, forget }: ClusterRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/cluster',
    access: 'cluster.read',
    summary: 'The boxes of the cluster, who hears whom, and how the cameras are shared',
    answers: { 200: { description: 'As the box sees them that is asked', schema: clusterSchema } },
    handle: () => ({ status: 200, body: cluster() }),
  }),
  route({
    method: 'delete',
    path: '/api/cluster/boxes/:name',
    access: 'cluster.manage',
    audit: 'forget_box',
    summary:
      'Say that a box which is lost is gone for good: the others neither wait for it nor count it any more',
    params: boxParams,
    answers: {
      200: { description: 'Done; a box that is heard again counts again', schema: forgottenSchema },
    },
    problems: [404, 409],
    handle: async ({ params: { name }, note }) => {
      note({ target: name });
      return { status: 200, body: { message: 'box forgotten', untold: [...(await forget(name))] } };
    },
  }),
];
