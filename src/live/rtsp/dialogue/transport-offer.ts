import { type Pair, parseTransport } from '../../../rtsp/transport-header.js';

/** How a client wants a track; the pair is its channels (null: ours to choose) or its ports. */
export type WantedTransport =
  | { readonly kind: 'tcp'; readonly channels: Pair | null }
  | { readonly kind: 'udp'; readonly ports: Pair };

/** Browsers of streams list three or four. */
const MAX_OFFERS = 16;

const read = (offer: string): WantedTransport | null => {
  const fields = offer.split(';').map((field) => field.trim().toLowerCase());
  const [profile = ''] = fields;
  const isRecord = fields.some((field) => /^mode\s*=\s*"?record/.test(field));
  if (!/^rtp\/avp(\/(tcp|udp))?$/.test(profile) || fields.includes('multicast') || isRecord) return null;
  const { interleaved, clientPorts } = parseTransport(offer);
  if (profile.endsWith('/tcp')) return { kind: 'tcp', channels: interleaved };
  return clientPorts === null ? null : { kind: 'udp', ports: clientPorts };
};

/** The transports that a SETUP offers and that we have, the client's favourite first (RFC 2326 §12.39). */
export const parseTransportOffer = (text: string): WantedTransport[] =>
  text
    .split(',', MAX_OFFERS)
    .map(read)
    .filter((wanted) => wanted !== null);
