import { randomBytes, randomInt, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';
import { authError } from './auth-error.js';

const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt);

/**
 * Base-2 logarithm of scrypt's cost, block size and parallelism (RFC 7914): what OWASP's password storage cheat
 * sheet holds for as good as ln = 17 with p = 1, in a quarter of the memory: 32 MiB and some 250 ms a password.
 */
const COST = { ln: 15, r: 8, p: 3 } as const;
const SALT_BYTES = 16;
const KEY_BYTES = 32;

/** A restored backup brings hashes from outside: none may cost more than this to check. */
const MAX_LN = 17;
const MAX_MEMORY_BYTES = 128 * 2 ** MAX_LN * 8;

const MIN_CHARACTERS = 8;
const MAX_CHARACTERS = 256;

/** Without 0 O 1 I l, which look alike on a console. */
const READABLE = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const INITIAL_CHARACTERS = 16;

type Parsed = {
  readonly ln: number;
  readonly r: number;
  readonly p: number;
  readonly salt: Buffer;
  readonly key: Buffer;
};

const base64 = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');

/** The PHC string format: what a hash cost to make stays beside it, so that the cost can be raised later. */
const PHC =
  /^\$scrypt\$ln=(\d{1,2}),r=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,86})\$([A-Za-z0-9+/]{22,86})$/;

const parse = (hash: string): Parsed | null => {
  const match = PHC.exec(hash);
  if (match === null) return null;
  const [ln, r, p] = [Number(match[1]), Number(match[2]), Number(match[3])];
  // RFC 7914, section 6: with r = 1 the cost has a lower limit, and the library would throw.
  const isBounded = ln >= 1 && ln <= MAX_LN && r >= 2 && p >= 1 && p <= 4;
  if (!isBounded || 128 * 2 ** ln * r > MAX_MEMORY_BYTES) return null;
  return {
    ln,
    r,
    p,
    salt: Buffer.from(match[4] ?? '', 'base64'),
    key: Buffer.from(match[5] ?? '', 'base64'),
  };
};

const keyOf = (password: string, salt: Buffer, lengthBytes: number, cost: Pick<Parsed, 'ln' | 'r' | 'p'>) =>
  // The same letters typed on another system may arrive in another normal form.
  derive(password.normalize('NFC'), salt, lengthBytes, {
    N: 2 ** cost.ln,
    r: cost.r,
    p: cost.p,
    maxmem: 2 * MAX_MEMORY_BYTES,
  });

/** Takes as long to check as a real hash, and fits no password. */
const decoy: Parsed = { ...COST, salt: randomBytes(SALT_BYTES), key: randomBytes(KEY_BYTES) };

/** Whether a text is a password hash that we can check at a bounded cost. */
export const isPasswordHash = (text: string): boolean => parse(text) !== null;

/** Throws `bad_password` unless it has 8 to 256 characters. */
export const checkPasswordRule = (password: string): void => {
  // A character is a code point here; text this long isn't even counted.
  const count = password.length > 2 * MAX_CHARACTERS ? Number.POSITIVE_INFINITY : [...password].length;
  if (count >= MIN_CHARACTERS && count <= MAX_CHARACTERS) return;
  const message = `a password has ${MIN_CHARACTERS} to ${MAX_CHARACTERS} characters`;
  throw authError('bad_password', message, { errors: [{ path: 'password', message }] });
};

/** The hash to keep, with a salt of its own. Works in the thread pool. */
export const hashPassword = async (password: string): Promise<string> => {
  const salt = randomBytes(SALT_BYTES);
  const key = await keyOf(password, salt, KEY_BYTES, COST);
  return `$scrypt$ln=${COST.ln},r=${COST.r},p=${COST.p}$${base64(salt)}$${base64(key)}`;
};

/** What a hash costs, in blocks that are mixed. */
const workOf = ({ ln, r, p }: Pick<Parsed, 'ln' | 'r' | 'p'>): number => 2 ** ln * r * p;

/** Whether a hash is cheaper to guess at than those that are made today. */
export const isWeakHash = (hash: string): boolean => {
  const stored = parse(hash);
  return stored !== null && workOf(stored) < workOf(COST);
};

/**
 * Whether the password fits. `hash` is null for a user who doesn't exist: the work is the same, so that nobody can
 * tell by the time which names exist. Works in the thread pool.
 */
export const verifyPassword = async (password: string, hash: string | null): Promise<boolean> => {
  const stored = (hash === null ? null : parse(hash)) ?? decoy;
  const isPlausible = password.length <= 2 * MAX_CHARACTERS;
  const key = await keyOf(isPlausible ? password : '', stored.salt, stored.key.length, stored);
  // A hash of former days would tell by the time that its name exists.
  const missing = Math.round((workOf(COST) - workOf(stored)) / workOf({ ...COST, p: 1 }));
  if (missing > 0) await keyOf('', decoy.salt, KEY_BYTES, { ...COST, p: missing });
  return timingSafeEqual(key, stored.key) && isPlausible && stored !== decoy;
};

/** A random password of 16 characters that a person can read off a console: 93 bits. */
export const generatePassword = (): string =>
  // randomInt draws again instead of taking a remainder, so each character is as likely as the next.
  Array.from({ length: INITIAL_CHARACTERS }, () => READABLE.charAt(randomInt(READABLE.length))).join('');
