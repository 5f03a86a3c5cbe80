import { isIPv4 } from 'node:net';

/** The bytes of an IPv6 address; an embedded IPv4 tail included. */
const ipv6Bytes = (address: string): Buffer => {
  const plain = address.split('%')[0]!;
  const [head = '', tail] = plain.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').flatMap((group) => groupBytes(group));
  const first = groups(head);
  const last = tail === undefined ? [] : groups(tail);
  return Buffer.from([...first, ...Array<number>(16 - first.length - last.length).fill(0), ...last]);
};

const groupBytes = (group: string): number[] => {
  if (group.includes('.')) return group.split('.').map(Number);
  const value = Number.parseInt(group, 16);
  return [value >> 8, value & 0xff];
};

/** The 4 or 16 bytes of an address. */
export const addressBytes = (address: string): Buffer =>
  isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address);
