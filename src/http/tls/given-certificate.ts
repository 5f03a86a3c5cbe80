import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';
import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Signal } from '../../base/signal.js';
import type { TlsPair } from './served-certificate.js';

const LOOK_MS = 60_000;
/** Who writes a chain may be amid it, and what stands there fit: it is taken when so much later it is the same. */
const SETTLED_MS = 5_000;

export type GivenPaths = { readonly certPath: string; readonly keyPath: string };

/** Why listeners can't show a pair, or null. A renewal writes one file after the other: between them nothing fits. */
const faultOf = ({ cert, key }: TlsPair): string | null => {
  try {
    if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
      return 'the key is not of the certificate';
    createSecureContext({ cert, key });
    return null;
  } catch (fault) {
    return messageOf(fault);
  }
};

const isSame = (one: TlsPair, other: TlsPair): boolean =>
  one.cert.equals(other.cert) && one.key.equals(other.key);

/** One that was given to us, in two files: whoever renews it replaces them, and needn't tell us. */
export class GivenCertificate {
  readonly isSelfSigned = false;
  readonly renewed = new Signal<[TlsPair]>();
  readonly #paths: GivenPaths;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #timer: Timer;
  #pair: TlsPair;
  #isLooking = false;
  /** What was found last, and may be a part. */
  #found: TlsPair | null = null;
  #settling: Timer | null = null;
  /** What was told of last as not to be used. */
  #refused: TlsPair | null = null;
  #isUnreadable = false;
  #isStopped = false;

  constructor(pair: TlsPair, paths: GivenPaths, deps: { readonly clock: Clock; readonly log: Logger }) {
    this.#pair = pair;
    this.#paths = paths;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#timer = deps.clock.every(LOOK_MS, () => {
      if (this.#settling === null) void this.#look();
    });
  }

  get pair(): TlsPair {
    return this.#pair;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer.cancel();
    this.#settling?.cancel();
  }

  /** The disk that they are on may take long. */
  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const { certPath, keyPath } = this.#paths;
      const [cert, key] = await Promise.all([readFile(certPath), readFile(keyPath)]);
      this.#isUnreadable = false;
      if (!this.#isStopped) this.#see({ cert, key });
    } catch (fault) {
      if (!this.#isUnreadable)
        this.#log.warn('the certificate can not be read: the old one stays', { reason: messageOf(fault) });
      this.#isUnreadable = true;
    } finally {
      this.#isLooking = false;
    }
  }

  #see(pair: TlsPair): void {
    const before = this.#found;
    this.#found = pair;
    if (isSame(pair, this.#pair)) return;
    if (this.#refused !== null && isSame(pair, this.#refused)) return;
    if (before !== null && isSame(pair, before)) this.#take(pair);
    else
      this.#settling = this.#clock.after(SETTLED_MS, () => {
        this.#settling = null;
        void this.#look();
      });
  }

  #take(pair: TlsPair): void {
    const fault = faultOf(pair);
    this.#refused = fault === null ? null : pair;
    if (fault !== null) {
      this.#log.warn('the new certificate can not be used: the old one stays', { reason: fault });
      return;
    }
    this.#pair = pair;
    const { fingerprint256, subjectAltName, validTo } = new X509Certificate(pair.cert);
    this.#log.info('the certificate was renewed', {
      fingerprint_sha256: fingerprint256,
      names: subjectAltName,
      not_after: new Date(validTo).toISOString(),
    });
    this.renewed.emit(pair);
  }
}
