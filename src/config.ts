import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join, resolve } from 'node:path';
import { isBoxName, ownBoxName } from './base/box-name.js';
import { type BrokerAddress, brokerAddressOf } from './base/broker-address.js';
import { type ClusterAddress, clusterAddressOf } from './base/cluster-address.js';
import {
  bad,
  booleanOf,
  type Environment,
  hostOf,
  integerOf,
  listOf,
  optionalPortOf,
  textOf,
} from './base/environment.js';
import { AppError } from './base/errors.js';
import { machineMemoryBytes } from './base/machine-memory.js';
import { type S3Address, s3AddressOf } from './base/s3-address.js';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

/** Everything that can be set from outside, checked once at the start and never changed after. */
export type Config = {
  readonly host: string;
  readonly port: number;
  readonly metricsHost: string;
  readonly metricsPort: number;
  /** null: no RTSP. */
  readonly rtspPort: number | null;
  /** null: no RTSP over TLS. */
  readonly rtspsPort: number | null;
  readonly dataDir: string;
  readonly archiveDir: string;
  readonly modelsDir: string;
  readonly modelsOrigin: URL | null;
  /** null: made at the first start and kept in the data directory. */
  readonly jwtSecret: string | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly recordFileSeconds: number;
  readonly storageMinFreePercent: number;
  readonly camerasPerWorker: number | 'auto';
  /** For the rings of all cameras together. */
  readonly ringMemoryMb: number;
  readonly webrtcUdpPorts: { readonly first: number; readonly last: number };
  readonly webrtcPublicIps: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly tls: {
    readonly cert: Buffer;
    readonly key: Buffer;
    readonly certPath: string;
    readonly keyPath: string;
  } | null;
  /** Whether the service makes a certificate for itself. */
  readonly tlsSelfSigned: boolean;
  /** Express's `trust proxy`: a hop count, a boolean, or a list of addresses. */
  readonly trustProxy: boolean | number | string;
  readonly maxConnections: number;
  readonly maxConnectionsPerAddress: number;
  readonly detectModel: string | null;
  readonly ffmpegPath: string;
  /** Whether webhooks may be sent to this machine and what hangs on its link. */
  readonly webhooksToLocal: boolean;
  /** Whether other recorders may add the cameras by ONVIF; hidden: it is not announced to networks. */
  readonly onvifDevice: (typeof ONVIF_DEVICE)[number];
  /** The broker that is told what happens; null: none. */
  readonly mqtt: MqttConfig | null;
  /** What this machine is called among others. */
  readonly boxName: string;
  /** Where recordings are copied to; null: nowhere. */
  readonly archiveS3: ArchiveS3Config | null;
  /** The boxes that this one is one of; null: it is alone. */
  readonly cluster: ClusterConfig | null;
};

export type ClusterConfig = {
  readonly address: ClusterAddress;
  /** Who alone may sign for the servers; null: those whom Node knows. */
  readonly ca: Buffer | null;
  /** Null: the servers are asked as nobody. */
  readonly login: { readonly kind: 'creds' | 'nkey'; readonly secret: Buffer } | null;
  readonly clusterName: string;
  /** What all boxes have, and the servers don't. */
  readonly secret: string;
  /** How many cameras it takes beside the others: one of 2 twice as many as one of 1. */
  readonly capacity: number;
  /** Where the other boxes reach this one, and viewers if they can; null: nowhere. */
  readonly boxAddress: string | null;
  /** A box that wasn't heard for so long is lost. */
  readonly lostMs: number;
  /** Where other boxes ask for this one's pictures. */
  readonly relayPort: number;
  readonly relayHost: string;
};

export type ArchiveS3Config = {
  readonly address: S3Address;
  /** Who alone may sign for the store; null: those whom Node knows. */
  readonly ca: Buffer | null;
  /** Megabits a second; null: as fast as it goes. */
  readonly mbit: number | null;
  /** After how many days recordings leave the disk that are in the store; null: they stay as long as there is room. */
  readonly localDays: number | null;
};

export type MqttConfig = {
  readonly address: BrokerAddress;
  /** Who alone may sign for the broker; null: those whom Node knows. */
  readonly ca: Buffer | null;
  /** What all topics begin with. */
  readonly prefix: string;
  /** Where Home Assistant looks for devices; null: it is told of none. */
  readonly discoveryPrefix: string | null;
};

const modelsOriginOf = (env: Environment): URL | null => {
  const text = textOf(env, 'MODELS_ORIGIN');
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['http:', 'https:', 'file:'].includes(url.protocol)) {
    throw new AppError('bad_config', "MODELS_ORIGIN can't be used: it must be an http, https or file URL");
  }
  return url;
};

const jwtSecretOf = (env: Environment): string | null => {
  const secret = env['JWT_SECRET'];
  if (secret === undefined || secret === '') return null;
  // The value itself is never repeated: it may be a real secret that is merely too short.
  if (Buffer.byteLength(secret) < 32)
    throw new AppError('bad_config', "JWT_SECRET can't be used: it must have at least 32 bytes");
  return secret;
};

const logLevelOf = (env: Environment): Config['logLevel'] => {
  const text = textOf(env, 'LOG_LEVEL') ?? 'info';
  const level = LOG_LEVELS.find((known) => known === text);
  if (level === undefined) throw bad('LOG_LEVEL', text, `it must be one of ${LOG_LEVELS.join(', ')}`);
  return level;
};

const camerasPerWorkerOf = (env: Environment): number | 'auto' => {
  const text = textOf(env, 'CAMERAS_PER_WORKER') ?? 'auto';
  if (text === 'auto') return 'auto';
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value < 1)
    throw bad('CAMERAS_PER_WORKER', text, 'it must be "auto" or a whole number from 1 to 99999');
  return value;
};

const MIN_RING_MEMORY_MB = 16;

const quarterOfMemoryMb = (): number =>
  Math.max(MIN_RING_MEMORY_MB, Math.floor(machineMemoryBytes() / 4 / 1e6));

const webrtcUdpPortsOf = (env: Environment): Config['webrtcUdpPorts'] => {
  const text = textOf(env, 'WEBRTC_UDP_PORTS') ?? '50000-50199';
  const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text);
  const first = Number(match?.[1]);
  const last = Number(match?.[2] ?? match?.[1]);
  if (match === null || first < 1 || last > 65_535 || first > last) {
    throw bad('WEBRTC_UDP_PORTS', text, 'it must be a port or a range of ports such as 50000-50199');
  }
  return { first, last };
};

const webrtcPublicIpsOf = (env: Environment): string[] => {
  const addresses = listOf(env, 'WEBRTC_PUBLIC_IPS');
  for (const address of addresses)
    if (isIP(address) === 0) throw bad('WEBRTC_PUBLIC_IPS', address, 'it must be a list of IP addresses');
  return addresses;
};

const corsOriginsOf = (env: Environment): string[] => {
  const origins = listOf(env, 'CORS_ORIGINS');
  for (const origin of origins) {
    const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
    if (!isOrigin)
      throw bad('CORS_ORIGINS', origin, 'it must be a list of origins such as https://example.org');
  }
  return origins;
};

const tlsOf = (env: Environment): Config['tls'] => {
  const certPath = textOf(env, 'TLS_CERT');
  const keyPath = textOf(env, 'TLS_KEY');
  if (certPath === null && keyPath === null) return null;
  if (certPath === null)
    throw new AppError('bad_config', 'TLS_CERT is missing: TLS_KEY and TLS_CERT go together');
  if (keyPath === null)
    throw new AppError('bad_config', 'TLS_KEY is missing: TLS_CERT and TLS_KEY go together');
  return { cert: pemOf('TLS_CERT', certPath), key: pemOf('TLS_KEY', keyPath), certPath, keyPath };
};

const tlsSelfSignedOf = (env: Environment): boolean => {
  const isSelfSigned = booleanOf(env, 'TLS_SELF_SIGNED');
  const isGiven = textOf(env, 'TLS_CERT') !== null || textOf(env, 'TLS_KEY') !== null;
  if (isSelfSigned && isGiven)
    throw bad('TLS_SELF_SIGNED', 'true', 'TLS_CERT and TLS_KEY name a certificate already');
  return isSelfSigned;
};

const contentOf = (name: string, path: string): Buffer => {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new AppError(
      'bad_config',
      `${name}=${JSON.stringify(path)} can't be used: the file can't be read`,
      { cause },
    );
  }
};

const pemOf = (name: string, path: string): Buffer => {
  const content = contentOf(name, path);
  if (!content.includes('-----BEGIN ')) throw bad(name, path, 'it must be a PEM file');
  return content;
};

const trustProxyOf = (env: Environment): Config['trustProxy'] => {
  const text = textOf(env, 'TRUST_PROXY');
  if (text === null || text === 'false') return false;
  if (text === 'true') return true;
  if (/^\d{1,3}$/.test(text)) return Number(text);
  for (const part of text.split(',')) {
    const name = part.trim();
    const [address = '', bits] = name.split('/');
    const isNamed = ['loopback', 'linklocal', 'uniquelocal'].includes(name);
    const isSubnet = isIP(address) !== 0 && (bits === undefined || /^\d{1,3}$/.test(bits));
    if (!isNamed && !isSubnet)
      throw bad(
        'TRUST_PROXY',
        text,
        'it must be true, false, a number of hops, or a list of addresses and subnets',
      );
  }
  return text;
};

const detectModelOf = (env: Environment): string | null => {
  const text = textOf(env, 'DETECT_MODEL');
  if (text !== null && !/^[A-Za-z0-9._-]+\.onnx$/.test(text))
    throw bad('DETECT_MODEL', text, 'it must be the file name of an ONNX model, ending in .onnx');
  return text;
};

const ONVIF_DEVICE = ['off', 'on', 'hidden'] as const;

const onvifDeviceOf = (env: Environment): Config['onvifDevice'] => {
  const text = textOf(env, 'ONVIF_DEVICE') ?? 'off';
  const value = ONVIF_DEVICE.find((known) => known === text);
  if (value === undefined) throw bad('ONVIF_DEVICE', text, `it must be one of ${ONVIF_DEVICE.join(', ')}`);
  return value;
};

const TOPIC_PREFIX = /^(?=.{1,128}$)[A-Za-z0-9_.-]+(\/[A-Za-z0-9_.-]+)*$/;

const topicPrefixOf = (env: Environment, name: string, fallback: string): string => {
  const text = textOf(env, name) ?? fallback;
  if (!TOPIC_PREFIX.test(text))
    throw bad(name, text, 'it must be letters, figures, "_", "." and "-", in levels parted by "/"');
  return text;
};

const mqttOf = (env: Environment): MqttConfig | null => {
  const text = textOf(env, 'MQTT_URL');
  const caPath = textOf(env, 'MQTT_CA');
  const prefix = topicPrefixOf(env, 'MQTT_PREFIX', 'framering');
  const discovery = topicPrefixOf(env, 'MQTT_DISCOVERY_PREFIX', 'homeassistant');
  if (text === null) return null;
  const address = brokerAddressOf(text);
  // The value itself is never repeated: it may have a password.
  if (address === null)
    throw new AppError(
      'bad_config',
      "MQTT_URL can't be used: it must be like mqtt://user:password@host:1883 or mqtts://host, special characters percent-encoded",
    );
  if (caPath !== null && !address.isTls)
    throw bad('MQTT_CA', caPath, 'MQTT_URL must begin with mqtts: for it');
  const ca = caPath === null ? null : pemOf('MQTT_CA', caPath);
  return { address, ca, prefix, discoveryPrefix: discovery === 'off' ? null : discovery };
};

const boxNameOf = (env: Environment): string => {
  const text = textOf(env, 'BOX_NAME') ?? ownBoxName();
  if (!isBoxName(text)) throw bad('BOX_NAME', text, 'it must be letters, figures, "-" and ".", 63 at most');
  return text;
};

const archiveS3Of = (env: Environment): ArchiveS3Config | null => {
  const text = textOf(env, 'ARCHIVE_S3');
  const caPath = textOf(env, 'ARCHIVE_S3_CA');
  const mbit = integerOf(env, 'ARCHIVE_S3_MBIT', 0, 0, 100_000);
  const localDays = integerOf(env, 'ARCHIVE_LOCAL_DAYS', 0, 0, 36_500);
  if (text === null && localDays > 0)
    throw bad('ARCHIVE_LOCAL_DAYS', String(localDays), 'it needs ARCHIVE_S3, where recordings are then');
  if (text === null && caPath !== null) throw bad('ARCHIVE_S3_CA', caPath, 'it needs ARCHIVE_S3');
  if (text === null && mbit > 0) throw bad('ARCHIVE_S3_MBIT', String(mbit), 'it needs ARCHIVE_S3');
  if (text === null) return null;
  const address = s3AddressOf(text);
  // The value itself is never repeated: it has a secret.
  if (address === null)
    throw new AppError(
      'bad_config',
      "ARCHIVE_S3 can't be used: it must be like https://key:secret@host/bucket/prefix?region=eu-1, special characters of key and secret percent-encoded",
    );
  if (caPath !== null && !address.isTls)
    throw bad('ARCHIVE_S3_CA', caPath, 'ARCHIVE_S3 must begin with https: for it');
  const ca = caPath === null ? null : pemOf('ARCHIVE_S3_CA', caPath);
  return {
    ...{ address, ca },
    mbit: mbit === 0 ? null : mbit,
    localDays: localDays === 0 ? null : localDays,
  };
};

const CLUSTER_NAME = /^[A-Za-z0-9_-]{1,32}$/;
const MIN_SECRET_BYTES = 32;
const DEFAULT_RELAY_PORT = 7440;

/** Of files that the servers' own tools make. */
const clusterLoginOf = (env: Environment): ClusterConfig['login'] => {
  const credsPath = textOf(env, 'CLUSTER_CREDS');
  const nkeyPath = textOf(env, 'CLUSTER_NKEY');
  if (credsPath !== null && nkeyPath !== null)
    throw bad('CLUSTER_NKEY', nkeyPath, 'CLUSTER_CREDS says already who asks');
  if (credsPath !== null) {
    const secret = contentOf('CLUSTER_CREDS', credsPath);
    if (!secret.includes('-----BEGIN NATS USER JWT-----'))
      throw bad('CLUSTER_CREDS', credsPath, 'it must be a file of credentials');
    return { kind: 'creds', secret };
  }
  if (nkeyPath === null) return null;
  const seed = /^SU[A-Z2-7]{56}$/m.exec(contentOf('CLUSTER_NKEY', nkeyPath).toString())?.[0];
  if (seed === undefined) throw bad('CLUSTER_NKEY', nkeyPath, 'the file must have the seed of a user');
  return { kind: 'nkey', secret: Buffer.from(seed) };
};

const clusterSecretOf = (env: Environment): string => {
  const secret = env['CLUSTER_KEY'] ?? '';
  if (secret === '')
    throw new AppError('bad_config', 'CLUSTER_KEY is missing: CLUSTER_URL and CLUSTER_KEY go together');
  // The value itself is never repeated.
  if (Buffer.byteLength(secret) < MIN_SECRET_BYTES)
    throw new AppError(
      'bad_config',
      `CLUSTER_KEY can't be used: it must have at least ${MIN_SECRET_BYTES} bytes`,
    );
  return secret;
};

/** Where its API is, without a user and a path. */
const boxAddressOf = (env: Environment): string | null => {
  const text = textOf(env, 'BOX_ADDRESS');
  if (text === null) return null;
  const url = URL.canParse(text) ? new URL(text) : null;
  // The value itself is never repeated: somebody may have put a password into it.
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new AppError(
      'bad_config',
      "BOX_ADDRESS can't be used: it must be like https://box-1.site:8080, without a user and a path",
    );
  return url.origin;
};

const MAX_CAPACITY = 1_000;
const OF_A_CLUSTER = ['CLUSTER_KEY', 'CLUSTER_CREDS', 'CLUSTER_NKEY', 'CLUSTER_CA'];

const clusterOf = (env: Environment, host: string): ClusterConfig | null => {
  const text = textOf(env, 'CLUSTER_URL');
  const caPath = textOf(env, 'CLUSTER_CA');
  const clusterName = textOf(env, 'CLUSTER_NAME') ?? 'framering';
  if (!CLUSTER_NAME.test(clusterName))
    throw bad('CLUSTER_NAME', clusterName, 'it must be letters, figures, "_" and "-", 32 at most');
  const capacity = integerOf(env, 'BOX_CAPACITY', 1, 0, MAX_CAPACITY);
  const boxAddress = boxAddressOf(env);
  const lostMs = integerOf(env, 'CLUSTER_LOST_MS', 1_500, 900, 60_000);
  const relayPort = integerOf(env, 'RELAY_PORT', DEFAULT_RELAY_PORT, 0, 65_535);
  const relayHost = hostOf(env, 'RELAY_HOST', host);
  // One that is alone by a slip of a pen would record what the others do.
  const set = OF_A_CLUSTER.find((name) => text === null && textOf(env, name) !== null);
  if (set !== undefined) throw new AppError('bad_config', `${set} can't be used: CLUSTER_URL is missing`);
  if (text === null) return null;
  const address = clusterAddressOf(text);
  // The value itself is never repeated: somebody may have put a password into it.
  if (address === null)
    throw new AppError(
      'bad_config',
      "CLUSTER_URL can't be used: it must be like nats://a,b:4222,c or tls://a,b,c, without a user: CLUSTER_CREDS or CLUSTER_NKEY is for that",
    );
  if (caPath !== null && !address.isTls)
    throw bad('CLUSTER_CA', caPath, 'CLUSTER_URL must begin with tls: for it');
  const ca = caPath === null ? null : pemOf('CLUSTER_CA', caPath);
  const login = clusterLoginOf(env);
  return {
    ...{ address, ca, login, clusterName, secret: clusterSecretOf(env) },
    ...{ capacity, boxAddress, lostMs, relayPort, relayHost },
  };
};

/** Each listener needs a port of its own. */
const checkPorts = ({ port, metricsPort, rtspPort, rtspsPort, cluster }: Config): void => {
  const ports = {
    ...{ PORT: port, METRICS_PORT: metricsPort, RTSP_PORT: rtspPort, RTSPS_PORT: rtspsPort },
    RELAY_PORT: cluster?.relayPort ?? null,
  };
  const taken = new Map<number, string>();
  for (const [name, value] of Object.entries(ports)) {
    if (value === null || value === 0) continue;
    const other = taken.get(value);
    if (other !== undefined)
      throw bad(name, String(value), `${other} has the same value, and each needs a port of its own`);
    taken.set(value, name);
  }
};

/** Reads the whole configuration; throws an AppError with the one line that tells the user what to mend. */
export const readConfig = (env: Environment): Config => {
  const dataDir = resolve(textOf(env, 'DATA_DIR') ?? './data');
  const host = hostOf(env, 'HOST', '0.0.0.0');
  const config: Config = {
    host,
    metricsHost: hostOf(env, 'METRICS_HOST', host),
    port: integerOf(env, 'PORT', 8080, 0, 65_535),
    metricsPort: integerOf(env, 'METRICS_PORT', 9090, 0, 65_535),
    rtspPort: optionalPortOf(env, 'RTSP_PORT'),
    rtspsPort: optionalPortOf(env, 'RTSPS_PORT'),
    dataDir,
    archiveDir: resolve(textOf(env, 'ARCHIVE_DIR') ?? join(dataDir, 'recordings')),
    modelsDir: resolve(textOf(env, 'MODELS_DIR') ?? join(dataDir, 'models')),
    modelsOrigin: modelsOriginOf(env),
    jwtSecret: jwtSecretOf(env),
    logLevel: logLevelOf(env),
    recordFileSeconds: integerOf(env, 'RECORD_FILE_SECONDS', 3_600, 1, 82_800),
    storageMinFreePercent: integerOf(env, 'STORAGE_MIN_FREE_PERCENT', 5, 0, 99),
    camerasPerWorker: camerasPerWorkerOf(env),
    ringMemoryMb: integerOf(env, 'RING_MEMORY_MB', quarterOfMemoryMb(), MIN_RING_MEMORY_MB, 10_000_000),
    webrtcUdpPorts: webrtcUdpPortsOf(env),
    webrtcPublicIps: webrtcPublicIpsOf(env),
    corsOrigins: corsOriginsOf(env),
    tls: tlsOf(env),
    tlsSelfSigned: tlsSelfSignedOf(env),
    trustProxy: trustProxyOf(env),
    maxConnections: integerOf(env, 'MAX_CONNECTIONS', 10_000, 16, 1_000_000),
    maxConnectionsPerAddress: integerOf(env, 'MAX_CONNECTIONS_PER_IP', 1_000, 4, 1_000_000),
    detectModel: detectModelOf(env),
    ffmpegPath: textOf(env, 'FFMPEG_PATH') ?? 'ffmpeg',
    webhooksToLocal: booleanOf(env, 'WEBHOOKS_TO_LOCAL'),
    onvifDevice: onvifDeviceOf(env),
    mqtt: mqttOf(env),
    boxName: boxNameOf(env),
    archiveS3: archiveS3Of(env),
    cluster: clusterOf(env, host),
  };
  checkPorts(config);
  if (config.rtspsPort !== null && config.tls === null && !config.tlsSelfSigned)
    throw new AppError(
      'bad_config',
      "RTSPS_PORT can't be used: it needs TLS_CERT and TLS_KEY, or TLS_SELF_SIGNED",
    );
  if (config.onvifDevice !== 'off' && config.rtspPort === null && config.rtspsPort === null)
    throw bad(
      'ONVIF_DEVICE',
      config.onvifDevice,
      'it needs RTSP_PORT or RTSPS_PORT, where recorders get the pictures',
    );
  return Object.freeze(config);
};
