import { z } from 'zod';
import type { Models } from '../../models/models.js';
import { sendModel } from '../../models/response.js';
import { listText } from '../list.js';
import { modelSchema, modelView } from '../model-schema.js';
import { type Route, route } from '../route.js';

const contentType = ['application/octet-stream', 'application/json'];

const modelParams = z.object({
  filename: z
    .string()
    .regex(
      /^[A-Za-z0-9._-]+\.(?:onnx|json)$/,
      'must be the name of an .onnx file, or of the .json file beside it',
    ),
});

/** ONNX files for players that detect by themselves. */
export const modelRoutes = ({ models }: { readonly models: Models }): Route[] => [
  route({
    method: 'get',
    path: '/api/models',
    access: 'models.list',
    summary:
      'The models that are there, with what stands beside them; those of the origin once they were asked for',
    answers: {
      200: { description: 'Models, sorted by name', schema: z.array(modelSchema) },
      304: { description: 'The list that the client has', contentType: null },
    },
    problems: [503],
    handle: async () => listText(JSON.stringify((await models.list()).map(modelView))),
  }),
  route({
    method: 'get',
    path: '/models/:filename',
    access: 'public',
    summary:
      'A model file, with ETag and ranges; fetched from the origin when it is asked for first. ' +
      'With .json instead of .onnx: the description that stands beside it, where there is one',
    params: modelParams,
    answers: {
      200: { description: 'The file', contentType },
      206: { description: 'The range that was asked for', contentType },
      304: { description: 'The file that the client has', contentType: null },
    },
    problems: [404, 416, 502, 503],
    handle: ({ params }) => ({
      write: (request, response) => sendModel(models, params.filename, request, response),
    }),
  }),
];
