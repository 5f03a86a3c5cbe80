import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * A password's hash takes a quarter of a second, as it has to; tests of other things make hundreds of them. Where this
 * is loaded before the service they are made and checked at the least cost, whatever they say of it themselves. What
 * they do cost is tested with `passwords.ts`, and wherever the service is a process of its own.
 */
const { scrypt } = crypto;
const quick = (
  password: crypto.BinaryLike,
  salt: crypto.BinaryLike,
  bytes: number,
  _cost: crypto.ScryptOptions,
  done: (error: Error | null, key: Buffer) => void,
): void => scrypt(password, salt, bytes, { N: 2 }, done);
Object.assign(crypto, { scrypt: quick });
syncBuiltinESMExports();
