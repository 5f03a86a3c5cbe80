import { createPrivateKey, randomBytes, X509Certificate } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock, Timer } from '../../base/clock.js';
import { syncFolder } from '../../base/durable-file.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Signal } from '../../base/signal.js';
import { type CertifiedNames, makeCertificate } from './certificate.js';
import type { TlsPair } from './served-certificate.js';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Apple's devices take none that is valid for more than 825 days. */
const VALID_DAYS = 800;
const RENEWED_BEFORE_DAYS = 30;
/** Clocks of clients may be behind. */
const VALID_SINCE_DAYS = 1;

type Deps = { readonly clock: Clock; readonly log: Logger };

/** What a file holds: key and certificate together, so that they fit whatever crashes. */
const parse = (pem: Buffer): { pair: TlsPair; certificate: X509Certificate } | null => {
  try {
    const certificate = new X509Certificate(pem);
    const key = createPrivateKey(pem);
    if (!certificate.checkPrivateKey(key)) return null;
    return { pair: { cert: Buffer.from(certificate.toString()), key: pem }, certificate };
  } catch {
    return null;
  }
};

type KeptFile = { readonly pem: Buffer; readonly isPrivate: boolean };

const readIfThere = (path: string): KeptFile | null => {
  let handle: number;
  try {
    handle = openSync(path, 'r');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw thrown;
  }
  try {
    return { pem: readFileSync(handle), isPrivate: (fstatSync(handle).mode & 0o077) === 0 };
  } finally {
    closeSync(handle);
  }
};

/** Under its name the file is always whole, and nobody else's to read. */
const replace = (path: string, content: Buffer): void => {
  const draftPath = `${path}.${randomBytes(6).toString('hex')}.new`;
  try {
    const handle = openSync(draftPath, 'wx', 0o600);
    try {
      writeSync(handle, content);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(draftPath, path);
  } finally {
    rmSync(draftPath, { force: true });
  }
  syncFolder(dirname(path));
};

/** The certificate that the service made for itself: kept in the data directory, and made anew in time. */
export class SelfSigned {
  readonly isSelfSigned = true;
  /** There is another one to be shown. */
  readonly renewed = new Signal<[TlsPair]>();
  readonly #path: string;
  readonly #names: CertifiedNames;
  readonly #deps: Deps;
  readonly #timer: Timer;
  #pair: TlsPair;
  #certificate: X509Certificate;

  /** Throws `bad_config` where the file can't be used. */
  constructor(dataDir: string, names: CertifiedNames, deps: Deps) {
    this.#path = join(dataDir, 'self-signed.pem');
    this.#names = names;
    this.#deps = deps;
    try {
      ({ pair: this.#pair, certificate: this.#certificate } = this.#keepOrMake(readIfThere(this.#path)));
    } catch (cause) {
      const message = `TLS_SELF_SIGNED can't be used: ${this.#path}: ${messageOf(cause)}`;
      throw new AppError('bad_config', message, { cause });
    }
    this.#tell('the certificate that this service made for itself');
    this.#timer = deps.clock.every(HOUR_MS, () => this.#renewInTime());
  }

  get pair(): TlsPair {
    return this.#pair;
  }

  stop(): void {
    this.#timer.cancel();
  }

  #keepOrMake(file: KeptFile | null): { pair: TlsPair; certificate: X509Certificate } {
    if (file === null) return this.#make('there was none');
    if (!file.isPrivate) return this.#make('others could read the key');
    const kept = parse(file.pem);
    if (kept === null) return this.#make('the file was damaged');
    const why = this.#faultOf(kept.certificate);
    return why === null ? kept : this.#make(why);
  }

  /** Why a certificate can't stay, or null. */
  #faultOf(certificate: X509Certificate): string | null {
    const nowMs = this.#deps.clock.wallMs();
    // Made while the clock was wrong.
    if (Date.parse(certificate.validFrom) > nowMs) return 'it was not valid yet';
    if (Date.parse(certificate.validTo) - nowMs < RENEWED_BEFORE_DAYS * DAY_MS) return 'it came to its end';
    const { hosts, addresses } = this.#names;
    const isFor =
      hosts.every((host) => certificate.checkHost(host, { subject: 'never' }) !== undefined) &&
      addresses.every((address) => certificate.checkIP(address) !== undefined);
    return isFor ? null : 'the machine has another name or address';
  }

  #make(why: string): { pair: TlsPair; certificate: X509Certificate } {
    const nowMs = this.#deps.clock.wallMs();
    const validity = { fromMs: nowMs - VALID_SINCE_DAYS * DAY_MS, toMs: nowMs + VALID_DAYS * DAY_MS };
    const { cert, key } = makeCertificate(`Framering on ${hostname()}`, this.#names, validity);
    replace(this.#path, Buffer.concat([key, cert]));
    this.#deps.log.info('made a certificate: browsers will ask whether to trust it', { why });
    return { pair: { cert, key }, certificate: new X509Certificate(cert) };
  }

  #renewInTime(): void {
    const why = this.#faultOf(this.#certificate);
    if (why === null) return;
    try {
      ({ pair: this.#pair, certificate: this.#certificate } = this.#make(why));
    } catch (thrown) {
      this.#deps.log.error('the certificate can not be renewed', { error: messageOf(thrown) });
      return;
    }
    this.#tell('the certificate was renewed');
    this.renewed.emit(this.#pair);
  }

  #tell(message: string): void {
    const { fingerprint256, subjectAltName, validTo } = this.#certificate;
    this.#deps.log.info(message, {
      fingerprint_sha256: fingerprint256,
      names: subjectAltName,
      not_after: new Date(validTo).toISOString(),
    });
  }
}
