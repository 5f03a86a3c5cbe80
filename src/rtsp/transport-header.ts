/** A pair of ports or channels: RTP's and RTCP's. */
export type Pair = { readonly rtp: number; readonly rtcp: number };

/** What a camera's `Transport` says, as far as we use it; all of it may be missing. */
export type TransportReply = {
  readonly lower: 'tcp' | 'udp' | null;
  readonly interleaved: Pair | null;
  readonly clientPorts: Pair | null;
  readonly serverPorts: Pair | null;
  /** Where its packets come from, if that isn't where we are connected to. */
  readonly source: string | null;
};

export type Transport = 'tcp' | 'udp';

/** The `Transport` of a SETUP (RFC 2326 §12.39). */
export const writeTransport = (transport: Transport, pair: Pair): string =>
  transport === 'tcp'
    ? `RTP/AVP/TCP;unicast;interleaved=${pair.rtp}-${pair.rtcp}`
    : `RTP/AVP;unicast;client_port=${pair.rtp}-${pair.rtcp}`;

/** `a-b`, or `a` alone, which stands for a and a+1. */
const pairOf = (text: string | undefined, least: number, most: number): Pair | null => {
  const match = /^(\d{1,5})(?:\s*-\s*(\d{1,5}))?/.exec(text ?? '');
  if (match === null) return null;
  const rtp = Number(match[1]);
  const rtcp = match[2] === undefined ? rtp + 1 : Number(match[2]);
  return [rtp, rtcp].every((value) => value >= least && value <= most) ? { rtp, rtcp } : null;
};

/** Channels and ports that were named weigh more than a wrong profile (Escam Q6); null where they disagree. */
const lowerOf = (profile: string, values: ReadonlyMap<string, string>): Transport | null => {
  if (values.has('interleaved')) return 'tcp';
  const hasPorts = values.has('server_port') || values.has('client_port');
  if (profile.endsWith('/TCP')) return hasPorts ? null : 'tcp';
  return hasPorts || profile.endsWith('/UDP') ? 'udp' : null;
};

/**
 * Reads the `Transport` of an answer as cameras write it (quirk 10): parameters in any order (Luckfox), spaces,
 * a `;` at the end (Laureii), an SSRC that is no number (Hikvision), which nobody needs. Of several
 * transports the first counts.
 */
export const parseTransport = (text: string): TransportReply => {
  const [profile = '', ...fields] = (text.split(',')[0] ?? '').split(';').map((field) => field.trim());
  const values = new Map<string, string>();
  for (const field of fields) {
    const equals = field.indexOf('=');
    if (equals < 0) continue;
    values.set(
      field.slice(0, equals).trim().toLowerCase(),
      field
        .slice(equals + 1)
        .trim()
        .replace(/"/g, ''),
    );
  }
  return {
    lower: lowerOf(profile.toUpperCase(), values),
    interleaved: pairOf(values.get('interleaved'), 0, 255),
    clientPorts: pairOf(values.get('client_port'), 1, 65_535),
    serverPorts: pairOf(values.get('server_port'), 1, 65_535),
    source: values.get('source') || null,
  };
};
