import { createHash, randomBytes } from 'node:crypto';
import { type Challenge, parseChallenges } from './challenge.js';

export type Credentials = { readonly user: string; readonly password: string };

/** Strongest first: the order in which what a camera offers is tried. */
const digestAlgorithms = [
  { name: 'SHA-512-256', hash: 'sha512-256' },
  { name: 'SHA-256', hash: 'sha256' },
  { name: 'MD5', hash: 'md5' },
] as const;

/** One way to prove ourselves that the camera offered and that we can do. */
type Offer =
  | { readonly key: 'basic'; readonly strength: number }
  | {
      readonly key: string;
      readonly strength: number;
      readonly hash: string;
      readonly isSession: boolean;
      readonly realm: string;
      readonly nonce: string;
      readonly opaque: string | null;
      /** As the camera spelled it; null: it didn't say. */
      readonly algorithm: string | null;
      readonly hasQop: boolean;
      readonly isStale: boolean;
    };

const toOffer = ({ scheme, parameters }: Challenge): Offer | null => {
  if (scheme === 'basic') return { key: 'basic', strength: 0 };
  const nonce = parameters.get('nonce');
  if (scheme !== 'digest' || nonce === undefined) return null;
  const algorithm = parameters.get('algorithm') ?? null;
  const wanted = (algorithm ?? 'MD5').toUpperCase();
  const isSession = wanted.endsWith('-SESS');
  const name = isSession ? wanted.slice(0, -'-SESS'.length) : wanted;
  const rank = digestAlgorithms.findIndex((known) => known.name === name);
  if (rank < 0) return null;
  const qop = parameters.get('qop');
  const qops = qop === undefined ? [] : qop.split(',').map((word) => word.trim().toLowerCase());
  // auth-int alone: we'd have to hash bodies, and no camera was seen to ask for it.
  if (qops.length > 0 && !qops.includes('auth') && !qops.includes('')) return null;
  return {
    key: `digest:${wanted}`,
    strength: digestAlgorithms.length - rank,
    hash: digestAlgorithms[rank]!.hash,
    isSession,
    realm: parameters.get('realm') ?? '',
    nonce,
    opaque: parameters.get('opaque') ?? null,
    algorithm,
    hasQop: qops.includes('auth'),
    isStale: parameters.get('stale')?.toLowerCase() === 'true',
  };
};

const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

/**
 * Answers a camera's challenges (RFC 7617, RFC 7616, and RFC 2617 where the camera offers no qop). The strongest
 * scheme goes first; when the camera refuses it the next one gets its one chance, since some offer Digest and let
 * only Basic in (TP-Link, quirk 29).
 */
export class Authenticator {
  readonly #credentials: Credentials | null;
  readonly #makeCnonce: () => string;
  readonly #failedKeys = new Set<string>();
  #offer: Offer | null = null;
  #cnonce = '';
  #nonceCount = 0;
  #hasEverWorked = false;

  constructor(
    credentials: Credentials | null,
    makeCnonce: () => string = () => randomBytes(8).toString('hex'),
  ) {
    this.#credentials = credentials;
    this.#makeCnonce = makeCnonce;
  }

  /**
   * Takes the challenges of a 401. True: there is something (else) to try. `wasSent`: the refused request carried
   * our answer to the challenge before.
   */
  onUnauthorized(headerValues: readonly string[], wasSent: boolean): boolean {
    if (this.#credentials === null) return false;
    const offers = parseChallenges(headerValues)
      .map(toOffer)
      .filter((offer) => offer !== null)
      .sort((a, b) => b.strength - a.strength);
    const used = this.#offer;
    if (wasSent && used !== null && !this.#isFresh(used, offers)) this.#failedKeys.add(used.key);
    this.#offer = offers.find((offer) => !this.#failedKeys.has(offer.key)) ?? null;
    this.#cnonce = this.#makeCnonce();
    this.#nonceCount = 0;
    return this.#offer !== null;
  }

  /** Whether there is an answer to a challenge that a request can carry. */
  get isChallenged(): boolean {
    return this.#offer !== null;
  }

  /** The camera took what we sent: a later 401 means that its nonce has aged, not that the password is wrong. */
  onAccepted(): void {
    if (this.#offer !== null) this.#hasEverWorked = true;
  }

  /** The `Authorization` of the next request, or null before a challenge. Holds a secret: never log it. */
  authorize(method: string, uri: string): string | null {
    const offer = this.#offer;
    const credentials = this.#credentials;
    if (offer === null || credentials === null) return null;
    const { user, password } = credentials;
    if (!('nonce' in offer)) return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`;
    const hashOf = (text: string): string => createHash(offer.hash).update(text, 'utf8').digest('hex');
    this.#nonceCount += 1;
    const count = this.#nonceCount.toString(16).padStart(8, '0');
    const identity = hashOf(`${user}:${offer.realm}:${password}`);
    const ha1 = offer.isSession ? hashOf(`${identity}:${offer.nonce}:${this.#cnonce}`) : identity;
    const ha2 = hashOf(`${method}:${uri}`);
    const middle = offer.hasQop ? `${count}:${this.#cnonce}:auth:` : '';
    const fields = [
      `username=${quoted(user)}`,
      `realm=${quoted(offer.realm)}`,
      `nonce=${quoted(offer.nonce)}`,
      `uri=${quoted(uri)}`,
      `response="${hashOf(`${ha1}:${offer.nonce}:${middle}${ha2}`)}"`,
    ];
    // Only what was offered goes back: old firmware refuses fields that it doesn't know.
    if (offer.algorithm !== null) fields.push(`algorithm=${offer.algorithm}`);
    if (offer.opaque !== null) fields.push(`opaque=${quoted(offer.opaque)}`);
    if (offer.hasQop) fields.push('qop=auth', `nc=${count}`);
    if (offer.hasQop || offer.isSession) fields.push(`cnonce="${this.#cnonce}"`);
    return `Digest ${fields.join(', ')}`;
  }

  /** Whether the refusal of `used` only asks for a new nonce; many cameras don't say `stale` then. */
  #isFresh(used: Offer, offers: readonly Offer[]): boolean {
    const again = offers.find((offer) => offer.key === used.key);
    if (again === undefined || !('nonce' in again) || !('nonce' in used)) return false;
    return again.nonce !== used.nonce && (again.isStale || this.#hasEverWorked);
  }
}
