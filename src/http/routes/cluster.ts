import { z } from 'zod';
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
        hears: z.array(z.string()).meta({ description: 'the other boxes that it hears' }),
      }),
    ),
  })
  .meta({ id: 'Cluster' });

export type ClusterAnswer = z.infer<typeof clusterSchema>;

export type ClusterRoutesDeps = { readonly cluster: () => ClusterAnswer };

/** The boxes, as the one sees them that is asked. */
export const clusterRoutes = ({ cluster }: ClusterRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/cluster',
    access: 'cluster.read',
    summary: 'The boxes of the cluster, who hears whom, and how the cameras are shared',
    answers: { 200: { description: 'As the box sees them that is asked', schema: clusterSchema } },
    handle: () => ({ status: 200, body: cluster() }),
  }),
];
