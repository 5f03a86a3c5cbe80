import { randomUUID, X509Certificate } from 'node:crypto';
import type { Config } from './config.js';
import type { ServiceFacts } from './http/routes/settings.js';
import type { ServedCertificate } from './http/tls/served-certificate.js';
import type { RtspPorts } from './onvif/server/addresses.js';
import type { DeviceFacts } from './onvif/server/device-service.js';
import type { FactTable } from './store/facts.js';

/** The zone that times are shown in where none is set: the machine's. */
export const machineTimeZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone;

const certificateFacts = ({ pair, isSelfSigned }: ServedCertificate): ServiceFacts['https'] => {
  const { fingerprint256, validTo } = new X509Certificate(pair.cert);
  return {
    self_signed: isSelfSigned,
    fingerprint_sha256: fingerprint256,
    not_after: new Date(validTo).toISOString(),
  };
};

/** What an admin may know of how the service was started, and how that stands: nothing secret, and no paths. */
export const serviceFacts = (
  config: Config,
  version: string,
  certificate: ServedCertificate | null,
  mqtt: ServiceFacts['mqtt'],
): Omit<ServiceFacts, 'time_zone'> => ({
  version,
  https: certificate === null ? null : certificateFacts(certificate),
  trust_proxy: config.trustProxy !== false,
  cors_origins: [...config.corsOrigins],
  log_level: config.logLevel,
  record_file_seconds: config.recordFileSeconds,
  storage_min_free_percent: config.storageMinFreePercent,
  cameras_per_worker: config.camerasPerWorker,
  ring_memory_mb: config.ringMemoryMb,
  webrtc_udp_ports: config.webrtcUdpPorts,
  webrtc_public_ips: [...config.webrtcPublicIps],
  max_connections: config.maxConnections,
  max_connections_per_ip: config.maxConnectionsPerAddress,
  mqtt,
});

type RtspUrls = { readonly rtspUrl: string | null; readonly rtspsUrl: string | null };

const portOf = (url: string | null | undefined): number | null => (url ? Number(new URL(url).port) : null);

/** What the service is as an ONVIF device: the same one after each start. `urls`: null until all listen. */
export const onvifDeviceFacts = (
  version: string,
  stored: Pick<FactTable, 'text' | 'setText'>,
  urls: () => RtspUrls | null,
): { readonly facts: DeviceFacts; readonly rtspPorts: () => RtspPorts } => {
  let uuid = stored.text('onvif_uuid');
  if (uuid === null) {
    uuid = randomUUID();
    stored.setText('onvif_uuid', uuid);
  }
  return {
    facts: { version, uuid },
    rtspPorts: () => ({ rtsp: portOf(urls()?.rtspUrl), rtsps: portOf(urls()?.rtspsUrl) }),
  };
};

/** The service's own URL, at one of this machine's IPv4 addresses. */
export const urlAtAddress =
  (url: string) =>
  (address: string): string => {
    const { protocol, port } = new URL(url);
    return `${protocol}//${address}${port === '' ? '' : `:${port}`}`;
  };
