import type { Signal } from '../../base/signal.js';

/** A certificate and its key, as PEM. */
export type TlsPair = { readonly cert: Buffer; readonly key: Buffer };

/** What listeners show to whoever connects by TLS. */
export type ServedCertificate = {
  readonly isSelfSigned: boolean;
  /** The one of now. */
  readonly pair: TlsPair;
  readonly renewed: Pick<Signal<[TlsPair]>, 'on'>;
};
