import { isIP } from 'node:net';

/** Where the servers of a cluster are. */
export type ClusterAddress = {
  readonly isTls: boolean;
  /** `host:port`, as the client takes them. */
  readonly servers: readonly string[];
};

const DEFAULT_PORT = 4222;
const MAX_SERVERS = 16;
const SCHEME = /^(nats|tls):\/\//;

/** `host`, `host:port` or `[IPv6]:port`; null: it is no such address. */
const serverOf = (text: string): string | null => {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]{1,253}))(?::(\d{1,5}))?$/.exec(text);
  const [, bracketed, name, port = String(DEFAULT_PORT)] = match ?? [];
  if (match === null || Number(port) < 1 || Number(port) > 65_535) return null;
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? `[${bracketed}]:${port}` : null;
  return `${name}:${port}`;
};

/** `nats://a,b:4222,c`, or `tls:`, with or without the scheme before each; null: it is no such address. */
export const clusterAddressOf = (text: string): ClusterAddress | null => {
  const scheme = SCHEME.exec(text)?.[0];
  if (scheme === undefined) return null;
  const servers = text.split(',').map((part) => {
    const bare = part.trim();
    return serverOf(bare.startsWith(scheme) ? bare.slice(scheme.length).replace(/\/$/, '') : bare);
  });
  const found = servers.filter((server) => server !== null);
  if (found.length < servers.length || found.length > MAX_SERVERS) return null;
  return { isTls: scheme === 'tls://', servers: [...new Set(found)] };
};
