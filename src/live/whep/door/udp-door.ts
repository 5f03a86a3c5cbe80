import { createSocket, type Socket } from 'node:dgram';
import type { Remote } from '../path/ice-lite.js';
import { lookupNothing, sharedSocket } from '../path/tied-socket.js';

export type PortRange = { readonly first: number; readonly last: number };

/** Where the process hears whoever comes to its UDP port for the first time. */
export type UdpDoor = { readonly port: number; close(): void };

export type OpenUdpDoor = (
  range: PortRange,
  onDatagram: (datagram: Buffer, from: Remote) => void,
) => Promise<UdpDoor | null>;

const families = [
  { type: 'udp4', address: '0.0.0.0' },
  { type: 'udp6', address: '::' },
] as const;

type Bound = 'bound' | 'taken' | 'unknown family';

const bind = (socket: Socket, port: number, address: string): Promise<Bound> =>
  new Promise((resolve, reject) => {
    const onError = (fault: NodeJS.ErrnoException): void => {
      if (fault.code === 'EADDRINUSE' || fault.code === 'EACCES') resolve('taken');
      else if (fault.code === 'EAFNOSUPPORT' || fault.code === 'EADDRNOTAVAIL') resolve('unknown family');
      else reject(fault);
    };
    socket.once('error', onError);
    socket.bind({ port, address, exclusive: true }, () => {
      socket.off('error', onError);
      resolve('bound');
    });
  });

/**
 * Takes a port that nobody has. A socket that shares can't tell, since it shares with anybody: so one that doesn't
 * goes first, and makes room within the same turn.
 */
const take = async (
  port: number,
  { type, address }: (typeof families)[number],
): Promise<Socket | Exclude<Bound, 'bound'>> => {
  const probe = createSocket({ type, ipv6Only: type === 'udp6', lookup: lookupNothing as never });
  const found = await bind(probe, port, address);
  const free = found === 'bound' ? probe.address().port : 0;
  probe.close();
  if (found !== 'bound') return found;
  const socket = sharedSocket(type);
  const shared = await bind(socket, free, address);
  if (shared === 'bound') return socket;
  socket.close();
  return shared;
};

const closeAll = (sockets: readonly Socket[]): void => {
  for (const socket of sockets) socket.close();
};

/** Sockets of both families on one port; IPv4's alone on a machine without IPv6. */
const takeBoth = async (port: number): Promise<Socket[] | null> => {
  const sockets: Socket[] = [];
  for (const family of families) {
    const socket = await take(sockets[0]?.address().port ?? port, family);
    if (socket === 'unknown family') continue;
    if (socket === 'taken') {
      closeAll(sockets);
      return null;
    }
    sockets.push(socket);
  }
  return sockets.length === 0 ? null : sockets;
};

/** Opens the first port of the range that nobody else has; null: somebody has each. */
export const openUdpDoor: OpenUdpDoor = async (range, onDatagram) => {
  for (let port = range.first; port <= range.last; port += 1) {
    const sockets = await takeBoth(port);
    if (sockets === null) continue;
    for (const socket of sockets) {
      socket.on('error', () => {});
      socket.on('message', (datagram, { address, port }) => onDatagram(datagram, { address, port }));
    }
    return { port: sockets[0]!.address().port, close: () => closeAll(sockets) };
  }
  return null;
};
