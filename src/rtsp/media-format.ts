import { parseAacConfig } from '../codec/aac.js';
import { aacTrack, g711Track, l16Track, opusTrack } from '../codec/audio-track.js';
import { endWithoutZeros, isParameterSetH264, isParameterSetH265, nalTypeOf } from '../codec/nal.js';
import { AnnexBCursor, findStartCode } from '../codec/nal-cursor.js';
import type { AudioTrackInfo, VideoCodec } from '../codec/track.js';
import type { SessionDescription } from './sdp.js';
import type { MediaDescription } from './sdp-media.js';

const MAX_SPROP_NALS = 64;

/** The video codec of a media that we can take in, or null. */
export const videoCodecOf = (media: MediaDescription): VideoCodec | null => {
  if (media.kind !== 'video') return null;
  switch (media.encoding) {
    case 'H264':
      return 'h264';
    case 'H265':
    case 'HEVC':
      return 'h265';
    case '':
      // No rtpmap at all: the parameters betray the codec.
      if (media.fmtp.has('sprop-parameter-sets')) return 'h264';
      return media.fmtp.has('sprop-sps') ? 'h265' : null;
    default:
      return null;
  }
};

/** Splits one base64 value: usually a NAL unit, sometimes several behind start codes (VStarcam, GW4089IP). */
const nalsOf = (base64: string): Buffer[] => {
  const bytes = Buffer.from(base64, 'base64');
  const first = findStartCode(bytes, 0, bytes.length);
  const nals = [bytes.subarray(0, endWithoutZeros(bytes, 0, first < 0 ? bytes.length : first))];
  const cursor = new AnnexBCursor();
  cursor.open(bytes, 0, bytes.length);
  while (cursor.next() && nals.length < MAX_SPROP_NALS) {
    nals.push(bytes.subarray(cursor.offset, cursor.offset + cursor.length));
  }
  return nals;
};

/**
 * The parameter sets that the SDP brings along (RFC 6184 §8.1, RFC 7798 §7.1), without start codes. A hint for
 * a quick start and no more: they may be missing in part, invalid, or not what the stream itself sends.
 */
export const spropNalsOf = (media: MediaDescription): readonly Buffer[] => {
  const codec = videoCodecOf(media);
  if (codec === null) return [];
  const keys = codec === 'h264' ? ['sprop-parameter-sets'] : ['sprop-vps', 'sprop-sps', 'sprop-pps'];
  const isParameterSet = codec === 'h264' ? isParameterSetH264 : isParameterSetH265;
  return keys
    .flatMap((key) => (media.fmtp.get(key) ?? '').split(','))
    .flatMap(nalsOf)
    .filter((nal) => nal.length > 0 && isParameterSet(nalTypeOf(codec, nal[0]!)))
    .slice(0, MAX_SPROP_NALS);
};

const configOf = (media: MediaDescription): Buffer => Buffer.from(media.fmtp.get('config') ?? '', 'hex');

const ticksPerAacFrame = (config: Buffer, clockRateHz: number): number => {
  const told = parseAacConfig(config);
  return told === null ? 1024 : Math.round((told.samplesPerFrame * clockRateHz) / told.sampleRateHz);
};

/** The audio of a media that an output can carry, or null: then the video goes on without it. */
export const audioTrackOf = (media: MediaDescription): AudioTrackInfo | null => {
  if (media.kind !== 'audio') return null;
  switch (media.encoding) {
    case 'MPEG4-GENERIC': {
      // RFC 3640 also carries CELP and generic streams; those name their mode.
      const mode = media.fmtp.get('mode')?.toLowerCase() ?? 'aac-hbr';
      if (!mode.startsWith('aac')) return null;
      return aacTrack(configOf(media), media.clockRateHz, media.channels);
    }
    case 'PCMU':
      return g711Track('pcmu', media.clockRateHz, media.channels);
    case 'PCMA':
      return g711Track('pcma', media.clockRateHz, media.channels);
    case 'L16':
      return l16Track(media.clockRateHz, media.channels);
    case 'OPUS':
      return opusTrack();
    default:
      return null;
  }
};

/**
 * ONVIF's metadata as it stands (Streaming §5.2.1.1). Cameras may offer it compressed too, by gzip or EXI, under names of
 * their own: that is left to others.
 */
export const isMetadata = ({ kind, encoding }: MediaDescription): boolean =>
  kind === 'application' && encoding === 'VND.ONVIF.METADATA';

/** Widths of the fields in an AU header (RFC 3640 §3.2.1), and how long an access unit lasts. */
export type AacFraming = {
  readonly sizeBits: number;
  readonly indexBits: number;
  readonly indexDeltaBits: number;
  /** RTP ticks: twice the core codec's samples where the clock runs at the rate of SBR's output. */
  readonly ticksPerFrame: number;
};

/** How AAC access units are framed; what cameras leave out is what their mode prescribes (RFC 3640 §3.3.5, §3.3.6). */
export const aacFramingOf = (media: MediaDescription): AacFraming => {
  const isLowRate = media.fmtp.get('mode')?.toLowerCase() === 'aac-lbr';
  const width = (key: string, most: number, prescribed: number): number => {
    const told = media.fmtp.get(key) ?? '';
    return /^\d{1,2}$/.test(told) && Number(told) <= most ? Number(told) : prescribed;
  };
  return {
    sizeBits: width('sizelength', 32, isLowRate ? 6 : 13),
    indexBits: width('indexlength', 32, isLowRate ? 2 : 3),
    indexDeltaBits: width('indexdeltalength', 32, isLowRate ? 2 : 3),
    ticksPerFrame: ticksPerAacFrame(configOf(media), media.clockRateHz),
  };
};

/** H.264 packetization-mode (RFC 6184 §8.1); 0 where it isn't told. */
export const packetizationModeOf = (media: MediaDescription): 0 | 1 | 2 => {
  const told = media.fmtp.get('packetization-mode');
  return told === '1' ? 1 : told === '2' ? 2 : 0;
};

/**
 * Whether H.265 payloads carry decoding order numbers (DONL, RFC 7798 §4.4): where sprop-max-don-diff is over
 * 0, or isn't told although the stream is spread over several RTP streams, whose order only they can tell.
 */
export const hasDonl = (media: MediaDescription): boolean => {
  const told = media.fmtp.get('sprop-max-don-diff');
  const txMode = media.fmtp.get('tx-mode')?.toUpperCase();
  return told === undefined ? txMode === 'MRST' || txMode === 'MRMT' : Number.parseInt(told, 10) > 0;
};

/**
 * A loudspeaker, which nobody asked for (ONVIF lists it to who requires `www.onvif.org/ver20/backchannel`): a sound
 * that goes to the camera, where the video, which always comes from it, isn't marked the same way (quirk 6).
 */
const isLoudspeaker = (media: MediaDescription, session: SessionDescription): boolean =>
  media.kind === 'audio' &&
  media.direction === 'sendonly' &&
  session.medias.some(({ kind, direction }) => kind === 'video' && direction !== 'sendonly');

/**
 * The first media that `isWanted`; those marked `sendonly` after the others: by the book they go to the camera, but
 * Panasonic and others mean that the camera sends.
 */
export const firstMedia = (
  session: SessionDescription,
  isWanted: (media: MediaDescription) => boolean,
): MediaDescription | null => {
  const wanted = session.medias.filter((media) => isWanted(media) && !isLoudspeaker(media, session));
  return wanted.find(({ direction }) => direction !== 'sendonly') ?? wanted[0] ?? null;
};
