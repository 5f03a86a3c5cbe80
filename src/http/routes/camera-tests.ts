import { may } from '../../auth/permissions.js';
import { AppError } from '../../base/errors.js';
import { hostOf } from '../../camera/camera-url.js';
import type { TrialResult } from '../../camera/trial/trials.js';
import { cameraTestResultSchema, cameraTestSchema } from '../camera-schemas.js';
import { type Route, route } from '../route.js';
import { idParams, type StreamName } from '../schemas.js';

export type CameraTestRoutesDeps = {
  readonly tests: {
    test(
      source: { readonly url: string; readonly transport: 'tcp' | 'udp' },
      username: string,
    ): Promise<TrialResult>;
    take(id: string, username: string): readonly Buffer[];
  };
  readonly cameras: {
    /** The address with the stored password where it has a mask. Throws `not_found`, `bad_url`. */
    unmasked(id: string, stream: StreamName, url: string): string;
  };
};

/** Cameras that are tried before they are configured. */
export const cameraTestRoutes = ({ tests, cameras }: CameraTestRoutesDeps): Route[] => [
  route({
    method: 'post',
    path: '/api/cameras/test',
    access: 'cameras.test',
    audit: 'test_camera',
    summary:
      'Connect to a camera as it is, or would be, configured, for 10 s at most: what it sends, or why not',
    body: cameraTestSchema,
    answers: { 200: { description: 'How it answered, well or not', schema: cameraTestResultSchema } },
    problems: [404, 429],
    handle: async ({ body: { url: sent, transport, id, stream }, principal, sight, note }) => {
      note({ target: hostOf(sent) });
      // Whoever names another host beside the mask is sent the password there: they must be one who may see it.
      if (id !== undefined && !may(principal, 'camera-credentials.read'))
        throw new AppError('forbidden', 'your role may not use the passwords of cameras');
      if (id !== undefined && !sight.seesCamera(id))
        throw new AppError('not_found', `there is no camera ${id}`);
      const url = id === undefined ? sent : cameras.unmasked(id, stream, sent);
      const result = await tests.test({ url, transport }, principal.username);
      note({ result: result.code });
      return { status: 200, body: result };
    },
  }),
  route({
    method: 'get',
    path: '/api/cameras/test/:id/frames',
    access: 'cameras.test',
    summary:
      'What a test saw, from a keyframe on: messages as of recordings, each behind its length in 32 bits',
    params: idParams,
    answers: { 200: { description: 'Messages', contentType: 'application/octet-stream' } },
    problems: [404],
    handle: ({ params, principal }) => ({
      ...{ status: 200, text: tests.take(params.id, principal.username) },
      contentType: 'application/octet-stream',
    }),
  }),
];
