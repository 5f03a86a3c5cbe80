import type { ListenOptions } from '../../src/http/server.js';
import { selfSignedCertificate } from '../support/fake-camera/certificate.js';

/** For a listener by TLS whose certificate is never renewed. */
export const selfSignedTls = (): ListenOptions['tls'] => {
  const { cert, key } = selfSignedCertificate();
  return {
    isSelfSigned: false,
    pair: { cert: Buffer.from(cert), key: Buffer.from(key) },
    renewed: { on: () => undefined },
  };
};
