import { isIPv6 } from 'node:net';

const GROUPS = 8;

/** The last 32 bits of an IPv6 address may be written as IPv4 (RFC 4291, section 2.2). */
const ipv4Tail = /^(.*:)(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/;

const hexOf = (high: string, low: string): string => ((Number(high) << 8) | Number(low)).toString(16);

/** The eight groups of an IPv6 address in any of its spellings; null for everything else. */
export const ipv6Groups = (address: string): number[] | null => {
  if (!isIPv6(address)) return null;
  const [bare = ''] = address.split('%', 1);
  const text = bare.replace(
    ipv4Tail,
    (_, head: string, a: string, b: string, c: string, d: string) => `${head}${hexOf(a, b)}:${hexOf(c, d)}`,
  );
  const [left = '', right = ''] = text.split('::');
  const parse = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16));
  const head = parse(left);
  const tail = parse(right);
  return [...head, ...Array<number>(GROUPS - head.length - tail.length).fill(0), ...tail];
};

const isMapped = (groups: readonly number[]): boolean =>
  groups[5] === 0xffff && groups.slice(0, 5).every((group) => group === 0);

/** Some proxies forward the client's port along with its address (Azure's gateway, IIS), another one for each connection. */
const withoutPort = (address: string): string => {
  const match = /^(?:\[([^\]]+)\](?::\d{1,5})?|(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5})$/.exec(address);
  return match?.[1] ?? match?.[2] ?? address;
};

/** An IPv4 client of a dual-stack socket is the same client (RFC 4291, section 2.5.5.2). */
export const plainAddress = (given: string): string => {
  const address = withoutPort(given);
  const groups = ipv6Groups(address);
  if (groups === null || !isMapped(groups)) return address;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join('.');
};

/**
 * What counts as one client: an IPv4 address, or the /64 of an IPv6 one, which is the least that a network gives
 * to a customer (RFC 6177, section 2). What is no address stands for itself.
 */
export const clientNetwork = (given: string): string => {
  const address = withoutPort(given);
  const groups = ipv6Groups(address);
  if (groups === null) return address;
  if (isMapped(groups)) return plainAddress(address);
  const prefix = groups.slice(0, 4).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
};

/** Whether a connection comes from this very machine. */
export const isLoopback = (address: string): boolean => {
  const plain = plainAddress(address);
  return plain === '::1' || /^127\.\d/.test(plain);
};
