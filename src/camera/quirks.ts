import { decidedOtherwise, defaultPolicies, type PolicyName, type RtspPolicies } from '../rtsp/quirks.js';
import type { CameraQuirks, QuirkName } from '../store/cameras.js';
import type { CameraSource } from './messages.js';

export type { QuirkName };

/** What each policy of the RTSP client is called in a camera's settings. */
const nameOf: Readonly<Record<PolicyName, QuirkName>> = {
  certificate: 'certificate',
  userAgent: 'user_agent',
  keepalive: 'keepalive',
  teardown: 'teardown',
  refusedTransport: 'refused_transport',
  silentUdp: 'silent_udp',
  packetizationMode0: 'packetization_mode_0',
  interleavedIds: 'interleaved_ids',
  sessionId: 'session_id',
};

/** What a camera's settings say for the RTSP client: only what they say. */
export const policiesOf = (quirks: CameraQuirks): Partial<RtspPolicies> => {
  const said: { readonly [Name in PolicyName]: RtspPolicies[Name] | undefined } = {
    certificate: quirks.certificate,
    userAgent: quirks.user_agent,
    keepalive: quirks.keepalive,
    teardown: quirks.teardown,
    refusedTransport: quirks.refused_transport,
    silentUdp: quirks.silent_udp,
    packetizationMode0: quirks.packetization_mode_0,
    interleavedIds: quirks.interleaved_ids,
    sessionId: quirks.session_id,
  };
  const told = Object.entries(said).filter(([, value]) => value !== undefined);
  return Object.fromEntries(told) as Partial<RtspPolicies>;
};

/** Policies as settings call them, sorted. */
export const quirkNames = (policies: Iterable<PolicyName>): QuirkName[] =>
  [...policies].map((policy) => nameOf[policy]).sort();

/** The settings that ask for something else than the default. */
export const setQuirks = (quirks: CameraQuirks): QuirkName[] =>
  quirkNames(decidedOtherwise({ ...defaultPolicies, ...policiesOf(quirks) }));

const isSameBox = (a: CameraSource['from'], b: CameraSource['from']): boolean =>
  a === b || (a?.box === b?.box && a?.host === b?.host && a?.port === b?.port);

/** Whether a session with one is as good as one with the other. */
export const isSameSource = (a: CameraSource, b: CameraSource): boolean =>
  a.url === b.url &&
  a.transport === b.transport &&
  isSameBox(a.from, b.from) &&
  Object.values(nameOf).every((name) => a.quirks?.[name] === b.quirks?.[name]);
