import { AppError } from '../../base/errors.js';
import type { TrialResult } from '../../camera/trial/trials.js';
import type { Discovered } from '../../onvif/discovery/discover.js';
import { isOnvifError } from '../../onvif/errors.js';
import type { OfferedCamera, OfferedStream, ProbedDevice, ProbeInput } from '../../onvif/probe.js';
import type { Profile } from '../../onvif/profiles.js';
import {
  discoveryQuery,
  discoverySchema,
  onvifProbeResultSchema,
  onvifProbeSchema,
} from '../onvif-schemas.js';
import { type Route, route } from '../route.js';

export type OnvifRoutesDeps = {
  readonly onvif: {
    /** Throws an OnvifError. */
    probe(input: ProbeInput, signal: AbortSignal): Promise<ProbedDevice>;
    discover(interfaces: string, seconds: number, signal: AbortSignal): Promise<Discovered>;
  };
  readonly tests: {
    /** Throws `tests_busy`. */
    test(
      source: { readonly url: string; readonly transport: 'tcp' | 'udp' },
      username: string,
    ): Promise<TrialResult>;
  };
};

/** Of a recorder's many the first ones are tested: eight streams at a time are tested at all. */
const TESTED_CAMERAS = 2;

type Test = (stream: OfferedStream) => Promise<TrialResult | null>;

const shownProfile = ({ bitrateKbps, hasPtz, hasMetadata, sourceConfiguration: _, ...profile }: Profile) => ({
  ...profile,
  bitrate_kbps: bitrateKbps,
  ptz: hasPtz,
  metadata: hasMetadata,
});

const shownStream = async (stream: OfferedStream, test: Test) => {
  const { token, codec, width, height } = stream.profile;
  return { profile: token, codec, width, height, test: await test(stream) };
};

const shownCamera = async (
  { name, main, sub, snapshotUrl }: OfferedCamera,
  { address, offers }: ProbedDevice,
  test: Test,
) => {
  const [shownMain, shownSub] = await Promise.all([
    shownStream(main, test),
    sub === null ? null : shownStream(sub, test),
  ]);
  return {
    name,
    camera: {
      ...{ url: main.url, sub_url: sub?.url ?? '' },
      onvif: { address, profile: main.profile.token },
    },
    ...{ main: shownMain, sub: shownSub, snapshot_url: snapshotUrl },
    ptz: offers.ptz && main.profile.hasPtz,
  };
};

const shownDevice = async (probed: ProbedDevice, test: Test) => {
  const { address, manufacturer, model, firmware, serial, clockOffsetSec, offers, remarks } = probed;
  const untested: Test = () => Promise.resolve(null);
  return {
    ...{ ok: true, code: 'ok', detail: '' },
    device: { address, manufacturer, model, firmware, serial, clock_offset_sec: clockOffsetSec, offers },
    remarks,
    profiles: probed.profiles.map(shownProfile),
    cameras: await Promise.all(
      probed.cameras.map((camera, index) =>
        shownCamera(camera, probed, index < TESTED_CAMERAS ? test : untested),
      ),
    ),
  };
};

/** ONVIF devices that nobody configured yet. */
export const onvifRoutes = ({ onvif, tests }: OnvifRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/onvif/discover',
    access: 'cameras.test',
    summary: 'Ask networks of this machine which ONVIF devices they have (WS-Discovery)',
    query: discoveryQuery,
    answers: { 200: { description: 'Who answered, by address', schema: discoverySchema } },
    problems: [429],
    handle: async ({ query, onGone }) => {
      const gone = new AbortController();
      onGone(() => gone.abort());
      const body = await onvif.discover(query.interface, query.seconds, gone.signal);
      return { status: 200, body };
    },
  }),
  route({
    method: 'post',
    path: '/api/onvif/probe',
    access: 'cameras.test',
    audit: 'probe_device',
    summary:
      'Ask an ONVIF device what it is and has: what would be added as cameras, how its streams answer, or why not',
    body: onvifProbeSchema,
    answers: { 200: { description: 'How it answered, well or not', schema: onvifProbeResultSchema } },
    problems: [429],
    handle: async ({ body: { address, username, password, certificate, test }, principal, note, onGone }) => {
      const gone = new AbortController();
      onGone(() => gone.abort(new AppError('onvif_busy', 'the client did not wait')));
      const credentials = username === '' ? null : { user: username, password };
      const tested: Test = async ({ url }) => {
        if (!test) return null;
        try {
          return await tests.test({ url, transport: 'tcp' }, principal.username);
        } catch (fault) {
          if (fault instanceof AppError && fault.code === 'tests_busy') return null;
          throw fault;
        }
      };
      try {
        const probed = await onvif.probe({ address, credentials, certificate }, gone.signal);
        note({ target: new URL(probed.address).host, result: 'ok' });
        return { status: 200, body: await shownDevice(probed, tested) };
      } catch (fault) {
        if (!isOnvifError(fault) || fault.code === 'bad_address' || fault.code === 'onvif_busy') throw fault;
        note({ result: fault.code });
        const nothing = { device: null, remarks: [], profiles: [], cameras: [] };
        return { status: 200, body: { ok: false, code: fault.code, detail: fault.message, ...nothing } };
      }
    },
  }),
];
