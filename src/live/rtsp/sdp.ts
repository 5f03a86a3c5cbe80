import type { AudioTrackInfo, StreamInfo, VideoTrackInfo } from '../../codec/track.js';
import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import { payloadType } from './packets/payload-type.js';

/** What stands at the end of a track's address, in DESCRIBE's answer and in SETUP. */
export const trackPath = { video: 'trackID=0', audio: 'trackID=1', metadata: 'trackID=2' } as const;

const base64 = (nals: readonly Uint8Array[]): string =>
  nals.map((nal) => Buffer.from(nal).toString('base64')).join(',');

/** RFC 6184 §8.2.1: profile, constraints and level stand behind the SPS's first byte. */
const h264Format = ({ sps, pps }: VideoTrackInfo): string => {
  const profile = Buffer.from(sps[0] ?? []).toString('hex', 1, 4);
  const level = profile.length === 6 ? `;profile-level-id=${profile}` : '';
  return `packetization-mode=1${level};sprop-parameter-sets=${base64([...sps, ...pps])}`;
};

/** RFC 7798 §7.1. */
const h265Format = ({ vps, sps, pps }: VideoTrackInfo): string =>
  `sprop-vps=${base64(vps)};sprop-sps=${base64(sps)};sprop-pps=${base64(pps)}`;

const videoLines = (video: VideoTrackInfo): string[] => {
  const { video: type } = payloadType;
  const isH264 = video.codec === 'h264';
  const rate = video.frameRateHz === null ? [] : [`a=framerate:${Number(video.frameRateHz.toFixed(3))}`];
  return [
    `m=video 0 RTP/AVP ${type}`,
    `a=rtpmap:${type} ${isH264 ? 'H264' : 'H265'}/${VIDEO_CLOCK_HZ}`,
    `a=fmtp:${type} ${isH264 ? h264Format(video) : h265Format(video)}`,
    ...rate,
    `a=control:${trackPath.video}`,
  ];
};

const audioName = {
  ...{ aac: 'MPEG4-GENERIC', opus: 'opus', pcmu: 'PCMU', pcma: 'PCMA', l16: 'L16' },
  // Of recordings alone: no camera sends it.
  flac: 'FLAC',
} as const;

/** AAC-hbr, as the packets are (RFC 3640 §3.3.6, §4.1). */
const aacFormat = ({ config }: AudioTrackInfo): string =>
  'streamtype=5;profile-level-id=1;mode=AAC-hbr;sizelength=13;indexlength=3;indexdeltalength=3;' +
  `config=${Buffer.from(config).toString('hex')}`;

const audioLines = (audio: AudioTrackInfo): string[] => {
  const type = payloadType.audio(audio);
  const channels = audio.channels > 1 || audio.codec === 'aac' ? `/${audio.channels}` : '';
  return [
    `m=audio 0 RTP/AVP ${type}`,
    `a=rtpmap:${type} ${audioName[audio.codec]}/${audio.clockRateHz}${channels}`,
    ...(audio.codec === 'aac' ? [`a=fmtp:${type} ${aacFormat(audio)}`] : []),
    `a=control:${trackPath.audio}`,
  ];
};

/** ONVIF Streaming §5.2.1.1. */
const metadataLines = [
  `m=application 0 RTP/AVP ${payloadType.metadata}`,
  `a=rtpmap:${payloadType.metadata} vnd.onvif.metadata/${VIDEO_CLOCK_HZ}`,
  `a=control:${trackPath.metadata}`,
];

/** What a stream consists of at present. */
export type Described = { readonly info: StreamInfo; readonly hasMetadata: boolean };

/** A camera's stream for DESCRIBE (RFC 4566, RFC 2326 appendix C). */
export const writeSdp = (
  cameraId: string,
  { info: { video, audio }, hasMetadata }: Described,
  isIPv6: boolean,
): string => {
  const any = isIPv6 ? 'IN IP6 ::' : 'IN IP4 0.0.0.0';
  const lines = [
    'v=0',
    `o=- 0 0 ${any}`,
    `s=${cameraId}`,
    `c=${any}`,
    't=0 0',
    'a=type:broadcast',
    'a=control:*',
    'a=range:npt=now-',
    ...videoLines(video),
    ...(audio === null ? [] : audioLines(audio)),
    ...(hasMetadata ? metadataLines : []),
  ];
  return `${lines.join('\r\n')}\r\n`;
};
