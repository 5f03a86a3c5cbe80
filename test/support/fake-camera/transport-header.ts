import type { Faults } from './faults.js';

/** What a client asks for in SETUP. */
export type TransportAsk = {
  readonly isTcp: boolean;
  readonly channels: readonly [number, number] | null;
  readonly clientPorts: readonly [number, number] | null;
};

const pairOf = (text: string, key: string): readonly [number, number] | null => {
  const match = new RegExp(`(?:^|;)${key}=(\\d+)(?:-(\\d+))?(?:;|$)`, 'i').exec(text);
  return match === null ? null : [Number(match[1]), Number(match[2] ?? Number(match[1]) + 1)];
};

/** Reads a client's Transport header (RFC 2326 §12.39); the first alternative counts. */
export const readTransport = (header: string): TransportAsk => {
  const first = header.split(',')[0] ?? '';
  return {
    isTcp: /^RTP\/AVP\/TCP/i.test(first),
    channels: pairOf(first, 'interleaved'),
    clientPorts: pairOf(first, 'client_port'),
  };
};

/** The channels that are used, and told, for a track. */
export const channelsFor = (
  asked: readonly [number, number],
  track: number,
  kind: Faults['interleavedIds'],
): readonly [number, number] => {
  switch (kind) {
    case 'asked':
      return asked;
    case 'other':
      return [asked[0] + 4, asked[0] + 5];
    case 'equal':
      return [asked[0], asked[0]];
    case 'missing':
      return [track * 2, track * 2 + 1];
  }
};

const ssrcText = (ssrc: number, kind: Faults['transportHeader']): string => {
  const hex = ssrc.toString(16).padStart(8, '0');
  return kind === 'spaced-ssrc' ? ` ${hex.toUpperCase()} ` : hex;
};

export type TransportFacts = {
  readonly channels: readonly [number, number] | null;
  readonly clientPorts: readonly [number, number] | null;
  readonly serverPorts: readonly [number, number] | null;
  readonly ssrc: number;
};

/** The Transport header of the answer. */
export const writeTransport = (facts: TransportFacts, faults: Faults): string => {
  const { channels, clientPorts, serverPorts } = facts;
  const kind = faults.transportHeader;
  const profile = channels === null ? 'RTP/AVP' : 'RTP/AVP/TCP';
  const parts: string[] = [];
  if (channels !== null && faults.interleavedIds !== 'missing')
    parts.push(`interleaved=${channels.join('-')}`);
  if (clientPorts !== null) parts.push(`client_port=${clientPorts.join('-')}`);
  if (serverPorts !== null && kind !== 'no-server-port') parts.push(`server_port=${serverPorts.join('-')}`);
  parts.push(`ssrc=${ssrcText(facts.ssrc, kind)}`);
  if (kind === 'other-order') return [profile, ...parts.toReversed(), 'unicast', 'mode="PLAY"'].join(';');
  const head = kind === 'wrong-profile' ? 'RTP/SAVPF/TCP' : profile;
  return [head, 'unicast', ...parts].join(';') + (kind === 'trailing-semicolon' ? ';' : '');
};
