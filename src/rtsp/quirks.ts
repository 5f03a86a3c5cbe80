/**
 * Where cameras differ and somebody has to decide, each decision has a name here. The defaults suit every camera
 * that we know of; README.md tells which camera needs which.
 */
export type RtspPolicies = {
  readonly keepalive: KeepalivePolicy;
  readonly teardown: TeardownPolicy;
  readonly transport: TransportPolicy;
  readonly silentUdp: SilentUdpPolicy;
  readonly packetizationMode0: PacketizationMode0Policy;
  readonly interleavedIds: InterleavedIdPolicy;
  readonly sessionId: SessionIdPolicy;
  readonly certificate: CertificatePolicy;
};

/**
 * How a session is kept alive (quirks 21, 22): VLC's server wants GET_PARAMETER, which GW4089IP and Hipcam refuse.
 * - `by_public` (default): what the camera lists in `Public`, GET_PARAMETER before OPTIONS before SET_PARAMETER;
 *   a refused method gives way to the next, and OPTIONS stays when all are refused.
 * - `options`: OPTIONS only.
 */
export type KeepalivePolicy = 'by_public' | 'options';

/**
 * Whether a session is ended in so many words.
 * - `always` (default): cameras have few sessions and keep a lost one for a minute (retina#34).
 * - `never`: the connection is just closed.
 */
export type TeardownPolicy = 'always' | 'never';

/**
 * What to do when the camera refuses the wished transport (461).
 * - `either` (default): ask for the other one.
 * - `as_wished`: give up.
 */
export type TransportPolicy = 'either' | 'as_wished';

/**
 * What to do when no packet comes over UDP after PLAY (quirk 25): a firewall, or a camera that only claims it.
 * - `switch_to_tcp` (default): begin anew with TCP. Anew, because Hikvision wants another DESCRIBE then, and others
 *   fail on a second DESCRIBE in the same connection (quirk 24).
 * - `give_up`: fail with `timeout`.
 */
export type SilentUdpPolicy = 'switch_to_tcp' | 'give_up';

/**
 * H.264 with packetization-mode=0 has no fragments: its large NAL units become UDP packets in many IP fragments,
 * which get lost (quirk 26).
 * - `force_tcp` (default), `keep_transport`.
 */
export type PacketizationMode0Policy = 'force_tcp' | 'keep_transport';

/**
 * Which interleaved channels a track has (quirks 9, 13).
 * - `from_reply` (default): those of the SETUP answer; where it names none, or another track's, those we asked for.
 * - `as_requested`: always those we asked for.
 */
export type InterleavedIdPolicy = 'from_reply' | 'as_requested';

/**
 * Which session id counts when it changes between answers (quirk 11).
 * - `take_last` (default), `keep_first`.
 */
export type SessionIdPolicy = 'take_last' | 'keep_first';

/**
 * Which certificates are good enough for rtsps.
 * - `accept_any` (default): cameras sign their own. This keeps listeners out, not somebody who sits in the line.
 * - `verify`: only what the system's authorities have signed for this name.
 */
export type CertificatePolicy = 'accept_any' | 'verify';

/** What holds for a camera that nobody said otherwise of. */
export const defaultPolicies: RtspPolicies = {
  keepalive: 'by_public',
  teardown: 'always',
  transport: 'either',
  silentUdp: 'switch_to_tcp',
  packetizationMode0: 'force_tcp',
  interleavedIds: 'from_reply',
  sessionId: 'take_last',
  certificate: 'accept_any',
};
