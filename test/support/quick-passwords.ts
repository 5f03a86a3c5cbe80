import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * A password's hash takes a quarter of a second, as it has to; tests of other things make hundreds of them. Where this
 * is loaded before the service, those whose salt was made in this process are made and checked at the least cost,
 * whatever they say of it themselves. What they do cost is tested with `passwords.ts`, and wherever the service is a
 * process of its own.
 */
const { randomBytes, scrypt } = crypto;
const SALT_BYTES = 16;
const salts = new Set<string>();

const quickly = {
  randomBytes: (sizeBytes: number): Buffer => {
    const bytes = randomBytes(sizeBytes);
    if (sizeBytes === SALT_BYTES) salts.add(bytes.toString('hex'));
    return bytes;
  },
  scrypt: (
    password: string,
    salt: Buffer,
    sizeBytes: number,
    options: crypto.ScryptOptions,
    done: (error: Error | null, key: Buffer) => void,
  ): void => scrypt(password, salt, sizeBytes, salts.has(salt.toString('hex')) ? { N: 2 } : options, done),
};
Object.assign(crypto, quickly);
syncBuiltinESMExports();
