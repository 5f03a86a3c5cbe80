import { lookup as systemLookup } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** [network, bits] of IPv4 (RFC 6890). */
type Net = readonly [network: string, bits: number];
const here: readonly Net[] = [
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
];
/** No host is reached by them, or by 0.0.0.0 this one. */
const nowhere: readonly Net[] = [
  ['0.0.0.0', 8],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

const here6: readonly Net[] = [
  ['::1', 128],
  ['fe80::', 10],
];
const nowhere6: readonly Net[] = [
  ['::', 128],
  ['ff00::', 8],
  // Site-local, given up (RFC 3879).
  ['fec0::', 10],
];

const BITS_16 = 16;
/** The 32 bits of an IPv4 network as two groups of an IPv6 address. */
const groupsOf = (network: string): [high: string, low: string] => {
  const [a = 0, b = 0, c = 0, d = 0] = network.split('.').map(Number);
  return [((a << 8) | b).toString(BITS_16), ((c << 8) | d).toString(BITS_16)];
};

/** An IPv4 network, and what carries it within IPv6: mapped, compatible, NAT64 (RFC 6052) and 6to4 (RFC 3056). */
const spellingsOf = ([network, bits]: Net): Net[] => {
  const [high, low] = groupsOf(network);
  return [
    [`::ffff:${high}:${low}`, 96 + bits],
    [`::${high}:${low}`, 96 + bits],
    [`64:ff9b::${high}:${low}`, 96 + bits],
    [`2002:${high}:${low}::`, 16 + bits],
  ];
};

const listOf = (nets: readonly Net[], nets6: readonly Net[]): BlockList => {
  const list = new BlockList();
  for (const [network, bits] of nets) list.addSubnet(network, bits, 'ipv4');
  for (const [network, bits] of [...nets6, ...nets.flatMap(spellingsOf)])
    list.addSubnet(network, bits, 'ipv6');
  return list;
};

const hereList = listOf(here, here6);
const nowhereList = listOf(nowhere, nowhere6);

/** Whether messages may be sent to an address: not to this machine and what hangs on its link, unless that is allowed. */
export const isAllowedAddress = (
  address: string,
  { allowsLocal }: { readonly allowsLocal: boolean },
): boolean => {
  const [bare = ''] = address.split('%', 1);
  if (isIP(bare) === 0) return false;
  const family = isIPv6(bare) ? 'ipv6' : 'ipv4';
  // ::1 lies within ::/104, where 0.0.0.0/8 is spelled as IPv6 once did.
  if (hereList.check(bare, family)) return allowsLocal;
  return !nowhereList.check(bare, family);
};

/** The code of the fault of an address that is not allowed. */
export const FORBIDDEN_ADDRESS = 'FORBIDDEN_ADDRESS';

export const forbiddenAddress = (): NodeJS.ErrnoException =>
  Object.assign(new Error('this address is not allowed'), { code: FORBIDDEN_ADDRESS });

/** What Node resolves names by. */
export type Lookup = typeof systemLookup;

/**
 * Resolves the name for the one connection that is made with the outcome, and leaves out what is not allowed: a name that
 * means something else a moment later changes nothing.
 */
export const guardedLookup =
  (rules: { readonly allowsLocal: boolean }, resolve: Lookup = systemLookup): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (fault, found) => {
      if (fault !== null) return callback(fault, '');
      const allowed = found.filter(({ address }) => isAllowedAddress(address, rules));
      const [first] = allowed;
      if (first === undefined) return callback(forbiddenAddress(), '');
      if (options.all === true) return callback(null, allowed);
      callback(null, first.address, first.family);
    });
  };

/** What is wrong with an address whose host stands there as a number; null: nothing, or it has a name. */
export const literalFault = (url: string, rules: { readonly allowsLocal: boolean }): string | null => {
  const host = new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 || isAllowedAddress(host, rules)) return null;
  return `webhooks may not be sent to ${host}: it is an address of this machine or its link, or of no host`;
};
