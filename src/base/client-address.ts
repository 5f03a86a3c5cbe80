/** An IPv4 client of a dual-stack socket is the same client (RFC 4291, section 2.5.5.2). */
export const plainAddress = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
