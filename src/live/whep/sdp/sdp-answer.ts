import { isIPv6 } from 'node:net';
import { type ChosenMedia, type ChosenTracks, isOpen } from './choose-codecs.js';
import type { Offer, OfferedFormat, OfferedMedia } from './sdp-offer.js';

/** What an answer says of our end of the session. */
export type AnswerParts = {
  readonly sessionNumber: number;
  readonly iceUfrag: string;
  readonly icePwd: string;
  /** SHA-256 of our certificate. */
  readonly fingerprint: string;
  readonly addresses: readonly string[];
  readonly port: number;
  /** Ties audio and video together, and names us in RTCP. */
  readonly cname: string;
  readonly videoSsrc: number;
  readonly audioSsrc: number;
};

/** The feedback that we act on; everything else that was offered stays out of the answer. */
const answeredFeedback = ['nack', 'nack pli', 'ccm fir'];

/** Host candidates, the first address preferred (RFC 8445 §5.1.2.1); only component 1, since RTCP shares it. */
const candidateLines = ({ addresses, port }: AnswerParts): string[] =>
  addresses.map((address, index) => {
    // IPv6 first is what RFC 8421 asks for; a viewer without it doesn't form the pair at all.
    const localPreference = (isIPv6(address) ? 65_535 : 32_767) - index;
    const priority = 126 * 2 ** 24 + localPreference * 2 ** 8 + 255;
    return `a=candidate:${index + 1} 1 udp ${priority} ${address} ${port} typ host`;
  });

const rtpmapLine = ({ payloadType, encoding, clockRateHz, channels }: OfferedFormat): string => {
  const name = encoding === 'opus' ? 'opus' : encoding.toUpperCase();
  return `a=rtpmap:${payloadType} ${name}/${clockRateHz}${channels > 1 ? `/${channels}` : ''}`;
};

/**
 * Port 0, and one format since a section must have one (RFC 3264 §6). It is none that anybody uses, but pion looks
 * each up all the same, and gives the whole answer up if nothing says what it is.
 */
const rejected = (media: OfferedMedia): string[] => {
  const isRtp = media.kind === 'audio' || media.kind === 'video';
  const format = media.formats[0];
  return [
    `m=${media.kind} 0 ${media.protocol} ${isRtp ? (format?.payloadType ?? 0) : 'webrtc-datachannel'}`,
    'c=IN IP4 0.0.0.0',
    ...(media.mid === '' ? [] : [`a=mid:${media.mid}`]),
    'a=inactive',
    ...(isRtp && format !== undefined ? [rtpmapLine(format)] : []),
  ];
};

const accepted = ({ media, format }: ChosenMedia, isSent: boolean, parts: AnswerParts): string[] => {
  const { payloadType } = format;
  const feedback = answeredFeedback.filter((kind) => format.feedback.includes(kind));
  return [
    `m=${media.kind} 9 ${media.protocol} ${payloadType}`,
    'c=IN IP4 0.0.0.0',
    'a=rtcp:9 IN IP4 0.0.0.0',
    ...(media.mid === '' ? [] : [`a=mid:${media.mid}`]),
    isSent ? 'a=sendonly' : 'a=inactive',
    'a=rtcp-mux',
    `a=ice-ufrag:${parts.iceUfrag}`,
    `a=ice-pwd:${parts.icePwd}`,
    `a=fingerprint:sha-256 ${parts.fingerprint}`,
    'a=setup:passive',
    rtpmapLine(format),
    ...(format.parameters === '' ? [] : [`a=fmtp:${payloadType} ${format.parameters}`]),
    ...feedback.map((kind) => `a=rtcp-fb:${payloadType} ${kind}`),
    ...candidateLines(parts),
    'a=end-of-candidates',
  ];
};

const sent = (chosen: ChosenMedia, ssrc: number, parts: AnswerParts): string[] => [
  ...accepted(chosen, true, parts),
  `a=msid:${parts.cname} ${chosen.media.kind}`,
  `a=ssrc:${ssrc} cname:${parts.cname}`,
];

/** Answers an offer (RFC 8829 §5.3): every section of it in its order, those that we can't serve refused. */
export const buildAnswer = (offer: Offer, { video, audio }: ChosenTracks, parts: AnswerParts): string => {
  const { bundled } = offer;
  const shares = bundled.has((video ?? audio)?.media.mid ?? '');
  // Where nothing is sent, the section is idle on the others' transport: aiortc knows no refused ones.
  const idleFormat = (media: OfferedMedia): OfferedFormat | undefined =>
    shares && bundled.has(media.mid) && isOpen(media) ? media.formats[0] : undefined;
  const isSent = (media: OfferedMedia): boolean => media === video?.media || media === audio?.media;
  const sections = offer.media.map((media) => {
    if (media === video?.media) return sent(video, parts.videoSsrc, parts);
    if (media === audio?.media) return sent(audio, parts.audioSsrc, parts);
    const format = idleFormat(media);
    return format === undefined ? rejected(media) : accepted({ media, format }, false, parts);
  });
  const mids = offer.media
    .filter((media) => isSent(media) || idleFormat(media) !== undefined)
    .map(({ mid }) => mid)
    .filter((mid) => bundled.has(mid));
  const lines = [
    'v=0',
    `o=- ${parts.sessionNumber} 1 IN IP4 0.0.0.0`,
    's=-',
    't=0 0',
    // We only answer connectivity checks (RFC 8445 §2.5): nothing has to be gathered or asked of anybody.
    'a=ice-lite',
    ...(mids.length === 0 ? [] : [`a=group:BUNDLE ${mids.join(' ')}`]),
    'a=msid-semantic: WMS *',
    ...sections.flat(),
  ];
  return `${lines.join('\r\n')}\r\n`;
};
