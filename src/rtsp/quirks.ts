/**
 * Where cameras differ and somebody has to decide, each decision has a name here. The defaults suit every camera
 * that we know of; README.md tells which camera needs which.
 */
export type RtspPolicies = {
  /** What we call ourselves: some cameras answer nobody else, or nobody without a name (quirk 27). */
  readonly userAgent: string;
  readonly keepalive: KeepalivePolicy;
  readonly teardown: TeardownPolicy;
  readonly refusedTransport: RefusedTransportPolicy;
  readonly silentUdp: SilentUdpPolicy;
  readonly packetizationMode0: PacketizationMode0Policy;
  readonly interleavedIds: InterleavedIdPolicy;
  readonly sessionId: SessionIdPolicy;
  readonly certificate: CertificatePolicy;
};

/** A decision by its name. */
export type PolicyName = keyof RtspPolicies;

/**
 * How a session is kept alive (quirks 21, 22): VLC's server wants GET_PARAMETER, which GW4089IP and Hipcam refuse.
 * - `auto` (default): what the camera lists in `Public`, GET_PARAMETER before OPTIONS before SET_PARAMETER; a refused
 *   method gives way to the next, and OPTIONS stays when all are refused.
 * - `options`, `get_parameter`, `set_parameter`: that method and no other, whatever the camera lists and answers.
 * - `none`: receiver reports alone, which is what RTCP is for.
 */
export type KeepalivePolicy = 'auto' | 'options' | 'get_parameter' | 'set_parameter' | 'none';

/**
 * Whether a session is ended in so many words.
 * - `always` (default): cameras have few sessions and keep a lost one for a minute (retina#34).
 * - `never`: the connection is just closed.
 */
export type TeardownPolicy = 'always' | 'never';

/**
 * What to do when the camera refuses the wished transport (461).
 * - `try_other` (default): ask for the other one.
 * - `give_up`: fail with `unsupported_transport`.
 */
export type RefusedTransportPolicy = 'try_other' | 'give_up';

/**
 * What to do when some track stays silent over UDP after PLAY (quirk 25): a firewall, or a camera that only claims it.
 * - `switch_to_tcp` (default): begin anew with TCP. Anew, because Hikvision wants another DESCRIBE then, and others
 *   fail on a second DESCRIBE in the same connection (quirk 24).
 * - `give_up`: fail with `timeout` if that is the video; go on without it if it is the sound.
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
 * - `any` (default): cameras sign their own. This keeps listeners out, not somebody who sits in the line.
 * - `verify`: only what the system's authorities have signed for this name.
 */
export type CertificatePolicy = 'any' | 'verify';

/** What holds for a camera that nobody said otherwise of. */
export const defaultPolicies: RtspPolicies = {
  userAgent: 'Framering',
  keepalive: 'auto',
  teardown: 'always',
  refusedTransport: 'try_other',
  silentUdp: 'switch_to_tcp',
  packetizationMode0: 'force_tcp',
  interleavedIds: 'from_reply',
  sessionId: 'take_last',
  certificate: 'any',
};

/** The decisions that were made otherwise for this camera. */
export const decidedOtherwise = (policies: RtspPolicies): PolicyName[] => {
  const names = Object.keys(defaultPolicies) as PolicyName[];
  return names.filter((name) => policies[name] !== defaultPolicies[name]);
};
