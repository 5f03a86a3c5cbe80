import { randomBytes } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { notAuthorized, type OnvifFault } from './answer.js';
import { HttpDigest } from './http-digest.js';
import { type UsernameToken, UsernameTokens } from './username-token.js';

/** What somebody must show who has this name, and who that is. */
export type Account<Who> = { readonly password: string; readonly who: Who };

export type GuardDeps<Who> = {
  readonly clock: Pick<Clock, 'wallMs'>;
  /** Null where nobody has the name. */
  readonly accountOf: (name: string) => Account<Who> | null;
  readonly onRight: (who: Who) => void;
  /** Something wrong was shown from there; throws where that happened too often. */
  readonly onWrong: (address: string) => void;
};

/** What a request shows of who asks. */
export type Shown = {
  readonly token: UsernameToken | null;
  readonly method: string;
  readonly target: string;
  readonly authorization: string;
  readonly address: string;
  readonly isSecure: boolean;
};

export type Verdict<Who> =
  | { readonly kind: 'known'; readonly who: Who }
  /** With the challenges of HTTP where it didn't come with a token of its own. */
  | { readonly kind: 'refused'; readonly fault: OnvifFault; readonly challenges: readonly string[] };

/** Who asks, by WS-Security's token, or by HTTP Digest. */
export class Guard<Who> {
  readonly #deps: GuardDeps<Who>;
  readonly #tokens: UsernameTokens;
  readonly #digest: HttpDigest;
  /** Nobody's: a name that nobody has takes as long as another. */
  readonly #noPassword = randomBytes(16).toString('hex');

  constructor(deps: GuardDeps<Who>) {
    this.#deps = deps;
    const startMs = deps.clock.wallMs();
    this.#tokens = new UsernameTokens(startMs);
    this.#digest = new HttpDigest(startMs);
  }

  /** Throws where wrong things were shown too often. */
  admit(shown: Shown): Verdict<Who> {
    return shown.token === null ? this.#byHttp(shown) : this.#byToken(shown.token, shown);
  }

  #byToken(token: UsernameToken, { address, isSecure }: Shown): Verdict<Who> {
    const account = this.#deps.accountOf(token.name);
    const password = account?.password ?? this.#noPassword;
    const fault = this.#tokens.faultOf(token, password, isSecure, this.#deps.clock.wallMs());
    if (account !== null && fault === null) return this.#known(account.who);
    if (fault === null || fault.isWrong) this.#deps.onWrong(address);
    const reason = fault?.reason ?? 'the user or the password is wrong';
    return { kind: 'refused', fault: notAuthorized(reason), challenges: [] };
  }

  #byHttp({ authorization, method, target, address }: Shown): Verdict<Who> {
    const nowMs = this.#deps.clock.wallMs();
    const answered = this.#digest.read(authorization, method, target);
    // Who shows nothing that we asked for has guessed nothing, either.
    if (answered === null) return this.#challenge('a user and a password are needed', false);
    const account = this.#deps.accountOf(answered.name);
    const isRight = answered.isOf(account?.password ?? this.#noPassword);
    if (account === null || !isRight) {
      this.#deps.onWrong(address);
      return this.#challenge('the user or the password is wrong', false);
    }
    return answered.isFresh(nowMs) ? this.#known(account.who) : this.#challenge('answer a new nonce', true);
  }

  #challenge(reason: string, isStale: boolean): Verdict<Who> {
    const challenges = this.#digest.challenges(this.#deps.clock.wallMs(), isStale);
    return { kind: 'refused', fault: notAuthorized(reason), challenges };
  }

  #known(who: Who): Verdict<Who> {
    this.#deps.onRight(who);
    return { kind: 'known', who };
  }
}
