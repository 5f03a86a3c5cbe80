import {
  type ConnectionOptions,
  createSecureContext,
  type PSKCallbackNegotation,
  type TlsOptions,
} from 'node:tls';

/*
 * TLS 1.3 with a key that both sides have (RFC 8446 §2.2) in the place of certificates: each proves to the other that it has
 * it, and the channel's own keys are agreed on anew, so that whoever learns it later can't read what went before.
 */

const IDENTITY = 'framering-relay';
const CIPHER = 'TLS_AES_128_GCM_SHA256';

/** Spoken by connections that ask; a box that doesn't know it says so in the handshake. */
export const ASKING = 'framering-ask';

const common = { minVersion: 'TLSv1.3', ciphers: CIPHER } as const;

/** Of a listener. It has no certificate: a handshake without the key comes to nothing. */
export const serverTls = (key: Buffer): TlsOptions => ({
  ...common,
  ALPNProtocols: [ASKING],
  pskCallback: (_socket, identity) => (identity === IDENTITY ? key : null),
});

/** Of a connection. Nobody's certificate counts, so that none can stand for the key. */
export const clientTls = (key: Buffer): ConnectionOptions => ({
  secureContext: createSecureContext({ ...common, ca: [] }),
  ...common,
  pskCallback: (): PSKCallbackNegotation => ({ psk: key, identity: IDENTITY }),
  checkServerIdentity: (_host, certificate) =>
    certificate === undefined || Object.keys(certificate).length === 0
      ? undefined
      : new Error('it shows a certificate, and not the key'),
});
