import { scryptSync } from 'node:crypto';

const text = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** A hash as the service made them before, at a third of today's cost. */
export const weakHash = (password: string): string => {
  const salt = Buffer.from('saltsaltsaltsalt');
  const key = scryptSync(password, salt, 32, { N: 32_768, r: 8, p: 1, maxmem: 2 ** 27 });
  return `$scrypt$ln=15,r=8,p=1$${text(salt)}$${text(key)}`;
};
