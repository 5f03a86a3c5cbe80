import { randomBytes } from 'node:crypto';
import { isBindingSuccess, parseBindingRequest, writeBindingRequest, writeBindingSuccess } from './stun.js';

/** Where datagrams come from and go to. */
export type Remote = { readonly address: string; readonly port: number };

/** What the offer says of the viewer's end. */
export type IceCredentials = { readonly ufrag: string; readonly pwd: string };

/** What a connectivity check led to. */
export type CheckResult = {
  readonly response: Buffer;
  /** The viewer says that media is to go where this check came from. */
  readonly isNominated: boolean;
};

/**
 * Our side of ICE (RFC 8445 §2.5): a lite agent with an address of its own answers checks. So an answer waits for
 * nothing, and no STUN server is ever asked. The viewer goes on checking as long as it wants media (RFC 7675).
 */
export class IceLite {
  readonly ufrag: string;
  readonly pwd = randomBytes(18).toString('base64url');
  readonly #viewer: IceCredentials;

  constructor(ufrag: string, viewer: IceCredentials) {
    this.ufrag = ufrag;
    this.#viewer = viewer;
  }

  /** Answers a check; null: it isn't one, or not one that was made for this session. */
  check(message: Buffer, from: Remote): CheckResult | null {
    const request = parseBindingRequest(message, this.pwd);
    if (request === null || request.username !== `${this.ufrag}:${this.#viewer.ufrag}`) return null;
    const response = writeBindingSuccess(request.transactionId, from.address, from.port, this.pwd);
    return { response, isNominated: request.useCandidate };
  }

  /**
   * A check of our own: whoever answers it receives what is sent to its address. A check that came from there says
   * less, since anybody can write any sender's address on it. Every agent that isn't lite answers (RFC 8445 §7.3).
   */
  question(transactionId: Buffer): Buffer {
    const { ufrag, pwd } = this.#viewer;
    return writeBindingRequest(transactionId, `${ufrag}:${this.ufrag}`, pwd);
  }

  isAnswer(message: Buffer, transactionId: Buffer): boolean {
    return isBindingSuccess(message, transactionId, this.#viewer.pwd);
  }
}
