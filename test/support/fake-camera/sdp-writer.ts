import { nalTypeOf } from '../../../src/codec/nal.js';
import type { VideoCodec } from '../../../src/codec/track.js';
import type { AudioStream, VideoStream } from '../elementary-stream.js';
import type { Faults } from './faults.js';

/** What a mount offers, in the order of its tracks. */
export type MountTracks = {
  readonly video: VideoStream | null;
  readonly audio: AudioStream | null;
  /** Whether there is a track for what its analytics tell. */
  readonly hasMetadata?: boolean;
};

export type TrackKind = 'video' | 'audio' | 'metadata';

/** In the order of their numbers. */
export const trackKinds = ({ video, audio, hasMetadata = false }: MountTracks): TrackKind[] => [
  ...(video === null ? [] : ['video' as const]),
  ...(audio === null ? [] : ['audio' as const]),
  ...(hasMetadata ? ['metadata' as const] : []),
];

export const VIDEO_PAYLOAD_TYPE = 96;
export const METADATA_PAYLOAD_TYPE = 107;

/** Static where RFC 3551 §6 has one. */
export const audioPayloadType = (stream: AudioStream): number => {
  const { codec, clockRateHz } = stream.track;
  if (clockRateHz === 8000 && codec === 'pcmu') return 0;
  return clockRateHz === 8000 && codec === 'pcma' ? 8 : 97;
};

const startCode = Buffer.of(0, 0, 0, 1);

const base64 = (nal: Buffer, kind: Faults['sprop']): string => {
  switch (kind) {
    case 'normal':
    case 'missing':
      return nal.toString('base64');
    case 'annex-b':
      return Buffer.concat([startCode, nal]).toString('base64');
    case 'broken':
      return Buffer.from(nal.map((byte, index) => (index === 0 ? byte : byte ^ 0xff))).toString('base64');
  }
};

const ofType = (codec: VideoCodec, nals: readonly Buffer[], type: number): Buffer[] =>
  nals.filter((nal) => nalTypeOf(codec, nal[0]!) === type);

/** RFC 6184 §8.1, RFC 7798 §7.1. */
const videoFmtp = (stream: VideoStream, faults: Faults): string => {
  const parts: string[] = [];
  const list = (nals: readonly Buffer[]): string => nals.map((nal) => base64(nal, faults.sprop)).join(',');
  const sets = stream.parameterSets;
  if (stream.codec === 'h264') {
    parts.push(`packetization-mode=${faults.packetizationMode}`);
    const sps = ofType('h264', sets, 7)[0];
    if (sps !== undefined) parts.push(`profile-level-id=${sps.toString('hex', 1, 4)}`);
    if (faults.sprop !== 'missing') parts.push(`sprop-parameter-sets=${list(sets)}`);
  } else if (faults.sprop !== 'missing') {
    const names = [
      ['sprop-vps', 32],
      ['sprop-sps', 33],
      ['sprop-pps', 34],
    ] as const;
    for (const [name, type] of names) parts.push(`${name}=${list(ofType('h265', sets, type))}`);
  }
  return parts.length === 0 ? '' : `a=fmtp:${VIDEO_PAYLOAD_TYPE} ${parts.join('; ')}\r\n`;
};

const audioLines = (stream: AudioStream): string => {
  const { codec, clockRateHz, channels, config } = stream.track;
  const payloadType = audioPayloadType(stream);
  const media = `m=audio 0 RTP/AVP ${payloadType}\r\n`;
  if (codec !== 'aac')
    return `${media}a=rtpmap:${payloadType} ${codec.toUpperCase()}/${clockRateHz}/${channels}\r\n`;
  const fmtp = `streamtype=5; profile-level-id=1; mode=AAC-hbr; sizelength=13; indexlength=3; indexdeltalength=3`;
  return (
    `${media}a=rtpmap:${payloadType} MPEG4-GENERIC/${clockRateHz}/${channels}\r\n` +
    `a=fmtp:${payloadType} ${fmtp}; config=${Buffer.from(config).toString('hex')}\r\n`
  );
};

/** How the SDP names a track. */
export const controlOf = (track: number, mountUrl: string, kind: Faults['control']): string => {
  switch (kind) {
    case 'relative':
      return `trackID=${track}`;
    case 'absolute':
      return `${mountUrl}/trackID=${track}`;
    case 'leading-slash':
      return `/trackID=${track}`;
    case 'double-scheme':
      return `rtsp://${mountUrl}/trackID=${track}`;
    case 'query':
      return `?ctype=${track === 0 ? 'video' : 'audio'}&trackID=${track}`;
  }
};

/** The session description of a mount (RFC 4566). */
export const writeSdp = (tracks: MountTracks, mountUrl: string, faults: Faults): string => {
  const medias: string[] = [];
  const control = (): string => `a=control:${controlOf(medias.length, mountUrl, faults.control)}\r\n`;
  if (tracks.video !== null) {
    const encoding = tracks.video.codec === 'h264' ? 'H264' : 'H265';
    medias.push(
      `m=video 0 RTP/AVP ${VIDEO_PAYLOAD_TYPE}\r\na=rtpmap:${VIDEO_PAYLOAD_TYPE} ${encoding}/90000\r\n` +
        `${videoFmtp(tracks.video, faults)}${control()}`,
    );
  }
  if (tracks.audio !== null) medias.push(`${audioLines(tracks.audio)}${control()}`);
  if (tracks.hasMetadata === true) {
    const media = `m=application 0 RTP/AVP ${METADATA_PAYLOAD_TYPE}\r\n`;
    medias.push(
      `${media}a=rtpmap:${METADATA_PAYLOAD_TYPE} vnd.onvif.metadata/90000\r\na=recvonly\r\n${control()}`,
    );
  }
  const sdp =
    'v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=Fake camera\r\nc=IN IP4 0.0.0.0\r\nt=0 0\r\n' +
    `a=control:*\r\na=range:npt=now-\r\n${medias.join('')}`;
  return faults.editSdp === null ? sdp : faults.editSdp(sdp);
};
