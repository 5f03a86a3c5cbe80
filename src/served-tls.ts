import type { Clock } from './base/clock.js';
import type { Logger } from './base/log.js';
import type { Config } from './config.js';
import { GivenCertificate } from './http/tls/given-certificate.js';
import { ownNames } from './http/tls/own-names.js';
import { SelfSigned } from './http/tls/self-signed.js';
import type { ServedCertificate } from './http/tls/served-certificate.js';
import type { Stops } from './stops.js';

/** The certificate that all listeners with TLS show: one that was given, one of our own making, or none. */
export const openCertificate = (
  config: Config,
  deps: { readonly clock: Clock; readonly log: Logger },
  stops: Stops,
): ServedCertificate | null => {
  if (config.tls !== null) {
    const { certPath, keyPath, ...pair } = config.tls;
    const given = new GivenCertificate(pair, { certPath, keyPath }, deps);
    stops.push(() => given.stop());
    return given;
  }
  if (!config.tlsSelfSigned) return null;
  const names = ownNames([config.host, ...config.webrtcPublicIps]);
  const certificate = new SelfSigned(config.dataDir, names, deps);
  stops.push(() => certificate.stop());
  return certificate;
};
