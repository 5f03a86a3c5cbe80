import type { AudioTrackInfo, StreamInfo, VideoTrackInfo } from '../../../codec/track.js';
import { whepError } from '../errors.js';
import type { Offer, OfferedFormat, OfferedMedia } from './sdp-offer.js';

/** A media section that is answered, and the payload type that its track goes by. */
export type ChosenMedia = { readonly media: OfferedMedia; readonly format: OfferedFormat };

/** What of the camera goes into which section of the offer. */
export type ChosenTracks = { readonly video: ChosenMedia | null; readonly audio: ChosenMedia | null };

/** One parameter of an fmtp line, lower case. */
const parameterOf = (format: OfferedFormat, name: string): string => {
  for (const part of format.parameters.split(';')) {
    const [key = '', value = ''] = part.trim().split('=', 2);
    if (key.toLowerCase() === name) return value.toLowerCase();
  }
  return '';
};

/** profile_idc of the stream, as hex digits: they follow `avc1.` (RFC 6381 §3.3). */
const profileOf = (video: VideoTrackInfo): string => video.codecString.slice(5, 7).toLowerCase();

/**
 * How well a payload type fits an H.264 stream. Only mode 1 can carry pictures larger than a packet. The same
 * profile is best; else constrained baseline, which every browser takes with any profile inside.
 */
const h264Rank = (format: OfferedFormat, video: VideoTrackInfo): number => {
  if (parameterOf(format, 'packetization-mode') !== '1') return 0;
  const profile = parameterOf(format, 'profile-level-id');
  if (profile.startsWith(profileOf(video))) return profile.startsWith('42e0') ? 5 : 4;
  if (profile.startsWith('42e0')) return 3;
  return profile.startsWith('42') ? 2 : 1;
};

const videoRank = (format: OfferedFormat, video: VideoTrackInfo): number => {
  if (format.encoding !== video.codec || format.clockRateHz !== 90_000) return 0;
  if (video.codec === 'h264') return h264Rank(format, video);
  // One session, one layer (RFC 7798 §7.1); profile 1 is Main.
  const mode = parameterOf(format, 'tx-mode');
  if (mode !== '' && mode !== 'srst') return 0;
  return parameterOf(format, 'profile-id') === '2' ? 1 : 2;
};

const audioRank = (format: OfferedFormat, audio: AudioTrackInfo): number => {
  const fits =
    format.encoding === audio.codec &&
    format.clockRateHz === audio.clockRateHz &&
    format.channels === audio.channels;
  return fits ? 1 : 0;
};

const best = (
  media: readonly OfferedMedia[],
  rank: (format: OfferedFormat) => number,
): ChosenMedia | null => {
  let chosen: ChosenMedia | null = null;
  let highest = 0;
  for (const section of media) {
    for (const format of section.formats) {
      const rankOf = rank(format);
      if (rankOf <= highest) continue;
      highest = rankOf;
      chosen = { media: section, format };
    }
  }
  return chosen;
};

/** Whether we could send into it: secured RTP over one socket with its RTCP. */
export const isOpen = ({ kind, isActive, receives, isMultiplexed, protocol }: OfferedMedia): boolean =>
  (kind === 'audio' || kind === 'video') &&
  isActive &&
  receives &&
  isMultiplexed &&
  /^UDP\/TLS\/RTP\/SAVPF?$/.test(protocol);

const open = (offer: Offer, kind: string): OfferedMedia[] =>
  offer.media.filter((media) => media.kind === kind && isOpen(media));

const namesOf = (media: readonly OfferedMedia[]): string => {
  const names = new Set(
    media.flatMap(({ formats }) => formats.map(({ encoding }) => encoding.toUpperCase())),
  );
  for (const helper of ['RTX', 'RED', 'ULPFEC', 'FLEXFEC-03']) names.delete(helper);
  return [...names].slice(0, 8).join(', ') || 'nothing that it could receive';
};

/** Picks a payload type for each track of the camera; throws `codec_not_offered` if the offer has none for it. */
export const chooseTracks = (offer: Offer, { video, audio }: StreamInfo): ChosenTracks => {
  const videoMedia = open(offer, 'video');
  const audioMedia = open(offer, 'audio');
  const chosenVideo = best(videoMedia, (format) => videoRank(format, video));
  const chosenAudio = audio === null ? null : best(audioMedia, (format) => audioRank(format, audio));
  const wantsVideo = offer.media.some(({ kind }) => kind === 'video');
  if (chosenVideo === null && (wantsVideo || chosenAudio === null)) {
    const sent = `${video.codec.toUpperCase()}${audio === null ? '' : ` and ${audio.codec.toUpperCase()}`}`;
    const offered = namesOf(wantsVideo ? videoMedia : audioMedia);
    throw whepError('codec_not_offered', `the camera sends ${sent}, and the offer has ${offered}`);
  }
  if (chosenVideo === null || chosenAudio === null) return { video: chosenVideo, audio: chosenAudio };
  // We have one socket for a session: what isn't bundled with the video stays out.
  const shares = offer.bundled.has(chosenVideo.media.mid) && offer.bundled.has(chosenAudio.media.mid);
  return { video: chosenVideo, audio: shares ? chosenAudio : null };
};
