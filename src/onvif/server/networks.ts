import { isIPv4 } from 'node:net';
import { networkInterfaces } from 'node:os';

/** One of this machine's IPv4 networks. */
export type OwnNetwork = { readonly address: string; readonly netmask: string };

const numberOf = (address: string): number =>
  address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

/** Whether an address is in a network: of no use where one of them is no IPv4 address. */
export const isIn = ({ address, netmask }: OwnNetwork, other: string): boolean => {
  if (!isIPv4(other)) return false;
  const mask = numberOf(netmask);
  return (numberOf(address) & mask) === (numberOf(other) & mask);
};

const ANY = new Set(['0.0.0.0', '::']);

/** Those that the service is reached in, where it listens at `host`: this machine's own one only by its address. */
export const networksOfHost = (host: string): OwnNetwork[] =>
  Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter(({ family }) => family === 'IPv4')
    .filter(({ address, internal }) => (ANY.has(host) ? !internal : address === host))
    .map(({ address, netmask }) => ({ address, netmask }));
