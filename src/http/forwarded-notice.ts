import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler } from 'express';
import type { Logger } from '../base/log.js';

/** Tells, once, that requests come through a proxy which nobody told us to trust. */
export class ForwardedNotice {
  readonly #log: Logger;
  #isTold = false;

  constructor(log: Logger) {
    this.#log = log;
  }

  readonly look: RequestHandler = ({ headers }, _response, next) => {
    this.see(headers);
    next();
  };

  /** Looks at one request. */
  see(headers: IncomingHttpHeaders): void {
    const isForwarded = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
    if (isForwarded && !this.#isTold) {
      this.#isTold = true;
      this.#log.warn(
        'a request was forwarded by a proxy, and TRUST_PROXY is not set: all who come through it count as one ' +
          'address, so ten wrong passwords lock all of them out for a minute',
      );
    }
  }
}
