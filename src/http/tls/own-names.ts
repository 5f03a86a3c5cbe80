import { isIP, isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import type { CertifiedNames } from './certificate.js';

/** RFC 1123, section 2.1. */
const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** RFC 3927: nobody types these. */
const isLinkLocal = (address: string): boolean => address.startsWith('169.254.');

const isAny = (address: string): boolean => address === '0.0.0.0' || address === '::';

/**
 * What this machine is called by whoever opens a page of it: its name, also as announced by multicast, and its addresses.
 * Of IPv6 only those that were configured: the others change from day to day (RFC 8981).
 */
export const ownNames = (configured: readonly string[]): CertifiedNames => {
  const name = hostname().toLowerCase();
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const found = interfaces
    .filter(({ address, internal }) => !internal && isIPv4(address) && !isLinkLocal(address))
    .map(({ address }) => address);
  const hosts = ['localhost', name, ...(name.includes('.') ? [] : [`${name}.local`])];
  const named = configured.filter((host) => isIP(host) === 0).map((host) => host.toLowerCase());
  const addresses = configured.filter((host) => isIP(host) !== 0 && !isAny(host));
  return {
    hosts: [...new Set([...hosts, ...named])].filter((host) => HOST_NAME.test(host)),
    addresses: [...new Set(['127.0.0.1', '::1', ...found, ...addresses])],
  };
};
