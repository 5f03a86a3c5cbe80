import { randomBytes } from 'node:crypto';
import { parseBindingRequest, writeBindingSuccess } from './stun.js';

/** Where datagrams come from and go to. */
export type Remote = { readonly address: string; readonly port: number };

/** What a connectivity check led to. */
export type CheckResult = {
  readonly response: Buffer;
  /** The viewer says that media is to go where this check came from. */
  readonly isNominated: boolean;
};

/**
 * Our side of ICE (RFC 8445 §2.5): a lite agent with an address of its own only answers checks. So an answer waits
 * for nothing, and no STUN server is ever asked. The viewer goes on checking as long as it wants media (RFC 7675).
 */
export class IceLite {
  readonly ufrag = randomBytes(6).toString('base64url');
  readonly pwd = randomBytes(18).toString('base64url');
  readonly #remoteUfrag: string;

  constructor(remoteUfrag: string) {
    this.#remoteUfrag = remoteUfrag;
  }

  /** Answers a check; null: it isn't one, or not one that was made for this session. */
  check(message: Buffer, from: Remote): CheckResult | null {
    const request = parseBindingRequest(message, this.pwd);
    if (request === null || request.username !== `${this.ufrag}:${this.#remoteUfrag}`) return null;
    const response = writeBindingSuccess(request.transactionId, from.address, from.port, this.pwd);
    return { response, isNominated: request.useCandidate };
  }
}
