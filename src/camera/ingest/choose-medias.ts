import { AppError } from '../../base/errors.js';
import type { AudioTrackInfo, VideoCodec } from '../../codec/track.js';
import { audioTrackOf, firstMedia, isMetadata, videoCodecOf } from '../../rtsp/media-format.js';
import type { MediaDescription, SessionDescription } from '../../rtsp/sdp.js';

/**
 * The medias that a session sets up: one video, one audio if there is one that an output can carry, and what the camera's
 * own analytics tell, if that is wanted.
 */
export type MediaChoice = {
  readonly video: { readonly media: MediaDescription; readonly codec: VideoCodec };
  readonly audio: { readonly media: MediaDescription; readonly info: AudioTrackInfo } | null;
  readonly metadata: MediaDescription | null;
};

/** Of what a camera offers so much is told: it may say what it likes. */
const MOST_MEDIAS = 8;
const MOST_CHARACTERS = 32;

/** Picks what we can carry; a camera without a video of ours is refused, by the names of what it has. */
export const chooseMedias = (session: SessionDescription, wantsMetadata = false): MediaChoice => {
  const video = firstMedia(session, (media) => videoCodecOf(media) !== null);
  const codec = video === null ? null : videoCodecOf(video);
  if (video === null || codec === null) {
    const offered = session.medias
      .slice(0, MOST_MEDIAS)
      .map((media) => `${media.kind} ${media.encoding || media.payloadType}`.slice(0, MOST_CHARACTERS))
      .join(', ');
    throw new AppError('unsupported_codec', `the camera offers no H.264 or H.265 video, only: ${offered}`);
  }
  const audio = firstMedia(session, (media) => audioTrackOf(media) !== null);
  const info = audio === null ? null : audioTrackOf(audio);
  return {
    video: { media: video, codec },
    audio: audio === null || info === null ? null : { media: audio, info },
    metadata: wantsMetadata ? firstMedia(session, isMetadata) : null,
  };
};

/** What SETUP is asked for; tracks are called by their index in this list. */
export const mediasOf = ({ video, audio, metadata }: MediaChoice): readonly MediaDescription[] => [
  video.media,
  ...(audio === null ? [] : [audio.media]),
  ...(metadata === null ? [] : [metadata]),
];
