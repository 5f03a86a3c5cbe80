import { all, textOf } from '../../analytics/xml-tree.js';
import { escapeXml } from '../soap.js';
import { OnvifFault, textXml } from './answer.js';
import {
  asked,
  type Profile,
  profileOf,
  profilesOf,
  sizeXml,
  sourceConfigurationXml,
  withStreams,
} from './media-profiles.js';
import type { Call, Operation, Operations, ShownCamera, ShownStream } from './shown-cameras.js';

/** As IANA calls them, which is how Media2 does; what was not seen yet is taken for the usual. */
const encodings: Readonly<Record<string, string>> = { h264: 'H264', h265: 'H265', '': 'H264' };

const isKnownHere = ({ codec }: ShownStream): boolean => Object.hasOwn(encodings, codec);

const shown = (call: Call): ShownCamera[] => withStreams(call.cameras(), isKnownHere);

const rateXml = ({ fps, bitrateKbps }: ShownStream): string =>
  fps < 1
    ? ''
    : `<tt:RateControl>${textXml('tt:FrameRateLimit', fps)}${textXml('tt:BitrateLimit', Math.round(bitrateKbps))}</tt:RateControl>`;

const encoderXml = (tag: string, { token, stream }: Profile): string =>
  `<${tag} token="${escapeXml(token)}">${textXml('tt:Name', token)}<tt:UseCount>1</tt:UseCount>` +
  `${textXml('tt:Encoding', encodings[stream.codec] ?? '')}${sizeXml(stream)}${rateXml(stream)}<tt:Quality>1</tt:Quality></${tag}>`;

const profileXml = (profile: Profile, isWhole: boolean): string => {
  const configurations = isWhole
    ? `<tr2:Configurations>${sourceConfigurationXml('tr2:VideoSource', profile.camera)}` +
      `${encoderXml('tr2:VideoEncoder', profile)}</tr2:Configurations>`
    : '';
  return (
    `<tr2:Profiles token="${escapeXml(profile.token)}" fixed="true">${textXml('tr2:Name', profile.token)}` +
    `${configurations}</tr2:Profiles>`
  );
};

/** With their configurations where some kind of these is asked for. */
const profilesXml = (call: Call): string => {
  const isWhole = all(call.element, 'Type').some((type) => textOf(type) !== '');
  const wanted = asked(call, 'Token');
  return profilesOf(shown(call))
    .filter(({ token }) => wanted === '' || token === wanted)
    .map((profile) => profileXml(profile, isWhole))
    .join('');
};

const streamUriXml = (call: Call): string => {
  const { camera, stream } = profileOf(call, shown(call));
  if (/multicast|http/i.test(asked(call, 'Protocol')))
    throw new OnvifFault(
      'Sender',
      ['InvalidArgVal', 'InvalidStreamSetup'],
      'streams go by RTSP, over TCP or UDP, to one client each',
    );
  return textXml('tr2:Uri', call.addresses.rtsp(camera.id, stream.stream));
};

const snapshotUriXml = (call: Call): string => {
  const { camera, stream } = profileOf(call, shown(call));
  return textXml('tr2:Uri', call.addresses.snapshot(camera.id, stream.stream));
};

const capabilitiesXml =
  '<tr2:Capabilities SnapshotUri="true"><tr2:ProfileCapabilities MaximumNumberOfProfiles="0" ' +
  'ConfigurationsSupported="VideoSource VideoEncoder"/><tr2:StreamingCapabilities RTSPStreaming="true" ' +
  'RTPMulticast="false" RTP_RTSP_TCP="true"/></tr2:Capabilities>';

/** The same as the first media service, by the second, which has a word for H.265. */
export const media2Operations: Operations = new Map<string, Operation>([
  ['GetServiceCapabilities', { isForAll: true, answer: () => capabilitiesXml }],
  ['GetProfiles', { answer: profilesXml }],
  [
    'GetVideoSourceConfigurations',
    {
      answer: (call) =>
        shown(call)
          .map((camera) => sourceConfigurationXml('tr2:Configurations', camera))
          .join(''),
    },
  ],
  [
    'GetVideoEncoderConfigurations',
    {
      answer: (call) =>
        profilesOf(shown(call))
          .map((profile) => encoderXml('tr2:Configurations', profile))
          .join(''),
    },
  ],
  ['GetStreamUri', { answer: streamUriXml }],
  ['GetSnapshotUri', { answer: snapshotUriXml }],
]);
