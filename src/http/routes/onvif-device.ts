import { z } from 'zod';
import type { OnvifPasswords } from '../../auth/onvif-passwords.js';
import { may } from '../../auth/permissions.js';
import type { Sights } from '../../auth/sight.js';
import type { Principal, Tokens } from '../../auth/tokens.js';
import type { Clock } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { CameraView, SubFields } from '../../camera/runtime-fields.js';
import { DEVICE_PATH } from '../../onvif/device-address.js';
import { MEDIA_PATH, MEDIA2_PATH, type RtspPorts, SNAPSHOT_PATH } from '../../onvif/server/addresses.js';
import { notAuthorized, type OnvifFault } from '../../onvif/server/answer.js';
import { DeviceServer, type ServiceOfDevice } from '../../onvif/server/device-server.js';
import type { DeviceFacts } from '../../onvif/server/device-service.js';
import type { ShownCamera, ShownStream } from '../../onvif/server/shown-cameras.js';
import { httpError, problemOf, problemOfStatus } from '../problem.js';
import { type Reply, type Route, route } from '../route.js';
import { idParams, type StreamSources, streamQuery } from '../schemas.js';
import type { StreamAccess } from '../stream-access.js';
import { type PictureSource, pictureReply } from './snapshot.js';

export type OnvifDeviceDeps = {
  readonly clock: Clock;
  readonly facts: DeviceFacts;
  readonly passwords: Pick<OnvifPasswords, 'find' | 'noteUse'>;
  /** Something wrong was shown from there; throws where that happened too often. */
  readonly onWrong: (address: string) => void;
  readonly sights: Pick<Sights, 'of'>;
  readonly cameras: { list(showsPasswords: boolean): readonly CameraView[] };
  readonly rtspPorts: () => RtspPorts;
  readonly pictures: PictureSource;
  readonly sources: StreamSources;
  readonly streams: Pick<StreamAccess, 'connectBy'>;
  readonly tokens: Pick<Tokens, 'issueStream'>;
};

const soapType = 'application/soap+xml';
/** The longest question of a client that we know has 3 KB. */
const MAX_QUESTION_BYTES = 32_768;

const shownStream = (
  stream: ShownStream['stream'],
  { codec, width, height, fps, bitrate }: Pick<SubFields, 'codec' | 'width' | 'height' | 'fps' | 'bitrate'>,
): ShownStream => ({ stream, codec, width, height, fps, bitrateKbps: bitrate });

const shownCamera = (camera: CameraView): ShownCamera => ({
  id: camera.id,
  streams: [shownStream('main', camera), ...(camera.sub === null ? [] : [shownStream('sub', camera.sub)])],
});

const camerasFor = ({ cameras, sights }: OnvifDeviceDeps, principal: Principal): readonly ShownCamera[] => {
  if (!may(principal, 'cameras.list') || !may(principal, 'live.watch'))
    throw notAuthorized(`the role ${principal.role} may not see cameras`);
  const sight = sights.of(principal.limits);
  return cameras
    .list(false)
    .filter(({ id, disabled }) => !disabled && sight.seesCamera(id))
    .map(shownCamera);
};

/** What the house throws, as a fault. */
const faultOf = (
  thrown: unknown,
): { readonly fault: OnvifFault; readonly headers: Record<string, string> } => {
  const { problem, headers } = problemOf(thrown);
  if (!(thrown instanceof AppError) || problem.status >= 500) throw thrown;
  return { fault: notAuthorized(problem.detail), headers: { 'Retry-After': headers['Retry-After'] ?? '60' } };
};

/** The service as an ONVIF device: what SOAP asks, and pictures. WSDL describes it, and the API's document does not. */
export const onvifDeviceRoutes = (deps: OnvifDeviceDeps): Route[] => {
  const { clock, facts, passwords, onWrong, rtspPorts, pictures, sources, streams, tokens } = deps;
  const device = new DeviceServer<Principal>({
    ...{ clock, facts, onWrong, rtspPorts },
    accountOf: (name) => passwords.find(name),
    onRight: (who) => passwords.noteUse(who),
    camerasOf: (who) => camerasFor(deps, who),
  });
  const service = (name: ServiceOfDevice, path: string): Route =>
    route({
      method: 'post',
      path,
      // Who asks is told in the question, or by HTTP Digest.
      access: 'public',
      audit: null,
      summary: `ONVIF's ${name} service`,
      body: z.string('must be SOAP 1.2'),
      bodyType: soapType,
      bodyLimitBytes: MAX_QUESTION_BYTES,
      answers: { 200: { description: 'The answer, or a fault', contentType: soapType } },
      handle: ({ body, asked, clientAddress: address, isSecure }): Reply => {
        const contentType = `${soapType}; charset=utf-8`;
        try {
          const { status, xml, challenges } = device.answer(name, {
            ...asked,
            text: body,
            address,
            isSecure,
          });
          const headers: Record<string, readonly string[]> =
            challenges.length === 0 ? {} : { 'WWW-Authenticate': challenges };
          return { status, text: xml, contentType, headers };
        } catch (thrown) {
          const { fault, headers } = faultOf(thrown);
          return { status: fault.status, text: fault.xml, contentType, headers };
        }
      },
    });
  const snapshot = route({
    method: 'get',
    path: `${SNAPSHOT_PATH}/:id`,
    access: 'public',
    summary: 'The newest keyframe as JPEG, for recorders: asks for HTTP Digest',
    params: idParams,
    query: streamQuery,
    answers: { 200: { description: 'The picture', contentType: 'image/jpeg' } },
    handle: async ({ params: { id }, query: { stream }, asked, clientAddress, isSecure, onGone }) => {
      const verdict = device.admit({ ...asked, address: clientAddress, isSecure });
      if (verdict.kind === 'refused') {
        const problem = problemOfStatus(401, 'bad_credentials', verdict.fault.message);
        return {
          ...{ status: 401, text: JSON.stringify(problem), contentType: 'application/problem+json' },
          headers: { 'WWW-Authenticate': verdict.challenges },
        };
      }
      const token = tokens.issueStream(verdict.who, id);
      const place = streams.connectBy(token, id, 'live.watch', clientAddress);
      let isOver = false;
      place.onEnd(() => {
        isOver = true;
      });
      try {
        const reply = await pictureReply(onGone, async (signal) => ({
          ...(await pictures.live(sources.sourceOf(id, stream), null, signal)),
          isSettled: false,
        }));
        if (isOver) throw httpError('forbidden', 'the right was withdrawn meanwhile');
        return reply;
      } finally {
        place.release();
      }
    },
  });
  return [
    service('device', DEVICE_PATH),
    service('media', MEDIA_PATH),
    service('media2', MEDIA2_PATH),
    snapshot,
  ];
};
