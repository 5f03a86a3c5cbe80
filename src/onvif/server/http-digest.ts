import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { parseChallenges } from '../../rtsp/challenge.js';
import { ReplayMemory } from './replay-memory.js';

const REALM = 'Framering';
const LIFETIME_MS = 300_000;
const MAX_HEADER = 2_048;
/** In order of preference, as RFC 7616 §3.7 has it. */
const algorithms: ReadonlyMap<string, string> = new Map([
  ['SHA-256', 'sha256'],
  ['MD5', 'md5'],
]);

export type Answered = {
  readonly name: string;
  readonly nonce: string;
  /** Whether the answer is that of somebody who has this password. */
  isOf(password: string): boolean;
  /** Whether it is shown for the first time, and in time. */
  isFresh(nowMs: number): boolean;
};

/** HTTP Digest as a server has it (RFC 7616): nonces that it knows again by its own signature. */
export class HttpDigest {
  readonly #key = randomBytes(32);
  readonly #memory: ReplayMemory;

  constructor(startMs: number) {
    this.#memory = new ReplayMemory(LIFETIME_MS, startMs);
  }

  /** What `WWW-Authenticate` says; `isStale`: the password was right, and only the nonce has aged. */
  challenges(nowMs: number, isStale: boolean): string[] {
    // The same in both: some clients mix them.
    const nonce = this.#nonceOf(nowMs, randomBytes(8).toString('hex'));
    return [...algorithms.keys()].map(
      (name) =>
        `Digest realm="${REALM}", qop="auth", algorithm=${name}, nonce="${nonce}"${isStale ? ', stale=true' : ''}`,
    );
  }

  /** An answer to one of our challenges; null: it is none, or for another request. */
  read(authorization: string, method: string, target: string): Answered | null {
    if (authorization.length > MAX_HEADER || !/^digest /i.test(authorization)) return null;
    const [{ parameters } = { parameters: new Map<string, string>() }] = parseChallenges([authorization]);
    const of = (name: string): string => parameters.get(name) ?? '';
    const hash = algorithms.get((parameters.get('algorithm') ?? 'MD5').toUpperCase());
    const nonce = of('nonce');
    const madeMs = this.#madeMsOf(nonce);
    const [name, count, cnonce] = [of('username'), of('nc'), of('cnonce')];
    const isWhole = hash !== undefined && of('realm') === REALM && of('qop') === 'auth' && cnonce !== '';
    if (!isWhole || madeMs === null || !/^[0-9a-f]{8}$/i.test(count) || of('uri') !== target) return null;
    const hashOf = (text: string): string => createHash(hash).update(text, 'utf8').digest('hex');
    return {
      name,
      nonce,
      isOf: (password) => {
        const identity = hashOf(`${name}:${REALM}:${password}`);
        const wanted = hashOf(
          `${identity}:${nonce}:${count}:${cnonce}:auth:${hashOf(`${method}:${target}`)}`,
        );
        const [a, b] = [Buffer.from(wanted), Buffer.from(of('response').toLowerCase())];
        return a.length === b.length && timingSafeEqual(a, b);
      },
      isFresh: (nowMs) =>
        Math.abs(nowMs - madeMs) <= LIFETIME_MS &&
        this.#memory.isFirst(name, `${nonce} ${count.toLowerCase()}`, madeMs, nowMs),
    };
  }

  #nonceOf(madeMs: number, salt: string): string {
    const text = `${madeMs.toString(36)}.${salt}`;
    const signature = createHmac('sha256', this.#key).update(text).digest('base64url').slice(0, 22);
    return `${text}.${signature}`;
  }

  /** When we made it; null: we didn't. */
  #madeMsOf(nonce: string): number | null {
    const [, made = '', salt = ''] = /^([0-9a-z]{1,12})\.([0-9a-f]{16})\.[\w-]{22}$/.exec(nonce) ?? [];
    const madeMs = Number.parseInt(made, 36);
    return made !== '' && this.#nonceOf(madeMs, salt) === nonce ? madeMs : null;
  }
}
