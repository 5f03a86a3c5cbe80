import { createHash, randomBytes } from 'node:crypto';
import type { RtspRequest } from './request-reader.js';

export type AuthScheme = 'basic' | 'digest-md5' | 'digest-sha256';

export type AuthOptions = {
  readonly user: string;
  readonly password: string;
  /** What 401 offers, in this order. */
  readonly schemes: readonly AuthScheme[];
  /** What is really accepted; TP-Link offers two and takes one. By default all that is offered. */
  readonly accepts?: readonly AuthScheme[];
  /** Asks for `qop=auth` (RFC 7616 §3.3). */
  readonly hasQop?: boolean;
  /** A nonce is stale after so many requests. */
  readonly nonceRequests?: number;
};

const REALM = 'fake camera';

const fieldsOf = (header: string): ReadonlyMap<string, string> =>
  new Map(
    [...header.matchAll(/([a-z]+)=(?:"([^"]*)"|([^\s,]+))/gi)].map((match) => [
      match[1]!.toLowerCase(),
      match[2] ?? match[3] ?? '',
    ]),
  );

/** Asks for a login as cameras do (RFC 7616, RFC 7617), and checks it to the letter. */
export class Gatekeeper {
  /** Logins that were refused although one was given. */
  refused = 0;
  readonly #options: AuthOptions;
  readonly #nonces = new Map<string, { uses: number; lastCount: number }>();

  constructor(options: AuthOptions) {
    this.#options = options;
  }

  /** null: come in. Else the headers of a 401. */
  challenge(request: RtspRequest): (readonly [string, string])[] | null {
    const given = request.headers.get('authorization');
    let isStale = false;
    if (given !== undefined) {
      const verdict = given.startsWith('Basic ')
        ? this.#checkBasic(given)
        : this.#checkDigest(given, request);
      if (verdict === 'good') return null;
      isStale = verdict === 'stale';
      if (!isStale) this.refused += 1;
    }
    const nonce = randomBytes(16).toString('hex');
    this.#nonces.set(nonce, { uses: 0, lastCount: 0 });
    return this.#options.schemes.map((scheme) => ['WWW-Authenticate', this.#offer(scheme, nonce, isStale)]);
  }

  #accepts(scheme: AuthScheme): boolean {
    return (this.#options.accepts ?? this.#options.schemes).includes(scheme);
  }

  #offer(scheme: AuthScheme, nonce: string, isStale: boolean): string {
    if (scheme === 'basic') return `Basic realm="${REALM}"`;
    const algorithm = scheme === 'digest-sha256' ? ', algorithm=SHA-256' : '';
    const qop = this.#options.hasQop === true ? ', qop="auth"' : '';
    return `Digest realm="${REALM}", nonce="${nonce}"${algorithm}${qop}${isStale ? ', stale=TRUE' : ''}`;
  }

  #checkBasic(given: string): 'good' | 'bad' {
    const { user, password } = this.#options;
    const isRight = given.slice(6) === Buffer.from(`${user}:${password}`).toString('base64');
    return isRight && this.#accepts('basic') ? 'good' : 'bad';
  }

  #checkDigest(given: string, request: RtspRequest): 'good' | 'bad' | 'stale' {
    const { user, password, hasQop = false, nonceRequests = Number.POSITIVE_INFINITY } = this.#options;
    const fields = fieldsOf(given.replace(/^Digest\s+/, ''));
    const field = (name: string): string => fields.get(name) ?? '';
    const scheme = field('algorithm').toUpperCase() === 'SHA-256' ? 'digest-sha256' : 'digest-md5';
    const nonce = this.#nonces.get(field('nonce'));
    if (!this.#accepts(scheme) || nonce === undefined || field('uri') !== request.url) return 'bad';
    const hash = (text: string): string =>
      createHash(scheme === 'digest-sha256' ? 'sha256' : 'md5')
        .update(text)
        .digest('hex');
    const ha1 = hash(`${user}:${REALM}:${password}`);
    const ha2 = hash(`${request.method}:${request.url}`);
    const middle = hasQop ? `${field('nc')}:${field('cnonce')}:auth:` : '';
    if (
      field('username') !== user ||
      field('response') !== hash(`${ha1}:${field('nonce')}:${middle}${ha2}`)
    ) {
      return 'bad';
    }
    if (hasQop) {
      // Each use of a nonce counts up, or it could be a replay (RFC 7616 §3.4).
      const count = Number.parseInt(field('nc'), 16);
      if (field('qop') !== 'auth' || !(count > nonce.lastCount)) return 'bad';
      nonce.lastCount = count;
    }
    nonce.uses += 1;
    return nonce.uses > nonceRequests ? 'stale' : 'good';
  }
}
