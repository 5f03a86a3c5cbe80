import { at, textOf } from '../../analytics/xml-tree.js';
import { escapeXml } from '../soap.js';
import { OnvifFault, textXml } from './answer.js';
import {
  asked,
  encoderOf,
  mainOf,
  type Profile,
  profileOf,
  profilesOf,
  sizeXml,
  sourceConfigurationXml,
  withStreams,
} from './media-profiles.js';
import type { Call, Operation, Operations, ShownCamera, ShownStream } from './shown-cameras.js';

/** ONVIF's first media service knows no H.265: a client that reads strictly would refuse the whole list for it. */
const isKnownHere = ({ codec }: ShownStream): boolean => codec === 'h264' || codec === '';

const shown = (call: Call): ShownCamera[] => withStreams(call.cameras(), isKnownHere);

const sourceXml = (camera: ShownCamera): string =>
  `<trt:VideoSources token="${escapeXml(camera.id)}">${textXml('tt:Framerate', mainOf(camera).fps)}` +
  `${sizeXml(mainOf(camera))}</trt:VideoSources>`;

const rateXml = ({ fps, bitrateKbps }: ShownStream): string =>
  fps < 1
    ? ''
    : `<tt:RateControl>${textXml('tt:FrameRateLimit', Math.round(fps))}<tt:EncodingInterval>1</tt:EncodingInterval>` +
      `${textXml('tt:BitrateLimit', Math.round(bitrateKbps))}</tt:RateControl>`;

const encoderXml = (tag: string, { token, stream }: Profile): string =>
  `<${tag} token="${escapeXml(token)}">${textXml('tt:Name', token)}<tt:UseCount>1</tt:UseCount>` +
  `<tt:Encoding>H264</tt:Encoding>${sizeXml(stream)}<tt:Quality>1</tt:Quality>${rateXml(stream)}` +
  '<tt:Multicast><tt:Address><tt:Type>IPv4</tt:Type><tt:IPv4Address>0.0.0.0</tt:IPv4Address></tt:Address>' +
  '<tt:Port>0</tt:Port><tt:TTL>0</tt:TTL><tt:AutoStart>false</tt:AutoStart></tt:Multicast>' +
  `<tt:SessionTimeout>PT60S</tt:SessionTimeout></${tag}>`;

const profileXml = (tag: string, profile: Profile): string =>
  `<${tag} token="${escapeXml(profile.token)}" fixed="true">${textXml('tt:Name', profile.token)}` +
  sourceConfigurationXml('tt:VideoSourceConfiguration', profile.camera) +
  `${encoderXml('tt:VideoEncoderConfiguration', profile)}</${tag}>`;

const range = (tag: string, min: number, max: number): string =>
  `<${tag}>${textXml('tt:Min', min)}${textXml('tt:Max', max)}</${tag}>`;

/** What it is, since nothing of it can be changed here. */
const optionsXml = ({ stream }: Profile): string => {
  const fps = Math.max(1, Math.round(stream.fps));
  return (
    `<trt:Options>${range('tt:QualityRange', 1, 1)}<tt:H264><tt:ResolutionsAvailable>` +
    `${textXml('tt:Width', stream.width)}${textXml('tt:Height', stream.height)}</tt:ResolutionsAvailable>` +
    `${range('tt:GovLengthRange', 1, 1)}${range('tt:FrameRateRange', fps, fps)}${range('tt:EncodingIntervalRange', 1, 1)}` +
    '<tt:H264ProfilesSupported>High</tt:H264ProfilesSupported></tt:H264></trt:Options>'
  );
};

const uriXml = (uri: string): string =>
  `<trt:MediaUri>${textXml('tt:Uri', uri)}<tt:InvalidAfterConnect>false</tt:InvalidAfterConnect>` +
  '<tt:InvalidAfterReboot>false</tt:InvalidAfterReboot><tt:Timeout>PT0S</tt:Timeout></trt:MediaUri>';

const streamUriXml = (call: Call): string => {
  const { camera, stream } = profileOf(call, shown(call));
  const setup = at(call.element, 'StreamSetup');
  const isTunnel = textOf(at(setup, 'Transport', 'Protocol')) === 'HTTP';
  if (isTunnel || textOf(at(setup, 'Stream')) === 'RTP-Multicast')
    throw new OnvifFault(
      'Sender',
      ['InvalidArgVal', 'InvalidStreamSetup'],
      'streams go by RTSP, over TCP or UDP, to one client each',
    );
  return uriXml(call.addresses.rtsp(camera.id, stream.stream));
};

const snapshotUriXml = (call: Call): string => {
  const { camera, stream } = profileOf(call, shown(call));
  return uriXml(call.addresses.snapshot(camera.id, stream.stream));
};

const everyProfile = (call: Call, one: (profile: Profile) => string): string =>
  profilesOf(shown(call)).map(one).join('');

const capabilitiesXml =
  '<trt:Capabilities SnapshotUri="true"><trt:ProfileCapabilities MaximumNumberOfProfiles="0"/>' +
  '<trt:StreamingCapabilities RTPMulticast="false" RTP_TCP="true" RTP_RTSP_TCP="true"/></trt:Capabilities>';

/** Cameras and their streams (ONVIF Media). Each camera is a video source, each stream a profile; none can be changed. */
export const mediaOperations: Operations = new Map<string, Operation>([
  ['GetServiceCapabilities', { isForAll: true, answer: () => capabilitiesXml }],
  ['GetProfiles', { answer: (call) => everyProfile(call, (profile) => profileXml('trt:Profiles', profile)) }],
  ['GetProfile', { answer: (call) => profileXml('trt:Profile', profileOf(call, shown(call))) }],
  ['GetVideoSources', { answer: (call) => shown(call).map(sourceXml).join('') }],
  [
    'GetVideoSourceConfigurations',
    {
      answer: (call) =>
        shown(call)
          .map((camera) => sourceConfigurationXml('trt:Configurations', camera))
          .join(''),
    },
  ],
  [
    'GetVideoEncoderConfigurations',
    { answer: (call) => everyProfile(call, (profile) => encoderXml('trt:Configurations', profile)) },
  ],
  [
    'GetVideoEncoderConfiguration',
    { answer: (call) => encoderXml('trt:Configuration', encoderOf(call, shown(call))) },
  ],
  [
    'GetVideoEncoderConfigurationOptions',
    {
      answer: (call) =>
        optionsXml(
          asked(call, 'ConfigurationToken') === ''
            ? profileOf(call, shown(call))
            : encoderOf(call, shown(call)),
        ),
    },
  ],
  ['GetStreamUri', { answer: streamUriXml }],
  ['GetSnapshotUri', { answer: snapshotUriXml }],
]);
