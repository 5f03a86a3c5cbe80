import { isIPv6 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** More would only make answers longer: bridges of containers, mostly. */
const MAX_ADDRESSES = 16;

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** Link-local ones work only with the name of an interface, which a viewer can't know. */
const isUsable = (address: string): boolean => !/^(?:fe[89ab]|169\.254\.)/i.test(address);

/**
 * The addresses under which viewers may reach this machine's UDP ports: what the configuration adds, then the
 * machine's own. Loopback is among them only where viewers can come from nowhere else: with no other address, or a
 * listener on loopback alone.
 */
export const ownAddresses = (
  host: string,
  publicIps: readonly string[],
  interfaces: Interfaces = networkInterfaces(),
): string[] => {
  const all = Object.values(interfaces).flatMap((infos) => infos ?? []);
  const outside = all.filter(({ internal, address }) => !internal && isUsable(address));
  const isLoopback = /^(?:127\.|::1$|localhost$)/.test(host);
  const loopback = isLoopback || outside.length === 0 ? [isIPv6(host) ? '::1' : '127.0.0.1'] : [];
  const addresses = [...publicIps, ...loopback, ...outside.map(({ address }) => address)];
  return [...new Set(addresses)].slice(0, MAX_ADDRESSES);
};
