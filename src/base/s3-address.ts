/** Where a bucket is, and who asks. */
export type S3Address = {
  readonly isTls: boolean;
  /** Without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  /** What the names of all objects begin with: "", or text that ends in "/". */
  readonly prefix: string;
  readonly region: string;
};

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };
const DEFAULT_REGION = 'us-east-1';
const MAX_LENGTH = 2_048;
/** Old buckets of AWS have capitals, and "_". */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/;
const PREFIX = /^(?=.{1,256}$)[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;
const REGION = /^[A-Za-z0-9-]{1,64}$/;
/** A header of HTTP takes the key. */
const KEY = /^[\x21-\x7e]{1,512}$/;

const decoded = (text: string): string | null => {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
};

const regionOf = (query: URLSearchParams): string | null => {
  const names = [...query.keys()];
  if (names.some((name) => name !== 'region') || names.length > 1) return null;
  const region = query.get('region') ?? DEFAULT_REGION;
  return REGION.test(region) ? region : null;
};

/** `https://key:secret@host[:port]/bucket[/prefix][?region=…]`, or `http:`; null: it is no such address. */
export const s3AddressOf = (text: string): S3Address | null => {
  if (text.length > MAX_LENGTH || !URL.canParse(text)) return null;
  const url = new URL(text);
  const defaultPort = DEFAULT_PORTS[url.protocol];
  const [accessKey, secretKey] = [decoded(url.username), decoded(url.password)];
  const region = regionOf(url.searchParams);
  const [bucket = '', ...levels] = url.pathname.slice(1).replace(/\/$/, '').split('/');
  const prefix = levels.join('/');
  if (defaultPort === undefined || url.hash !== '' || url.port === '0' || region === null) return null;
  if (!BUCKET.test(bucket) || (levels.length > 0 && !PREFIX.test(prefix))) return null;
  if (levels.some((level) => /^\.+$/.test(level))) return null;
  if (accessKey === null || secretKey === null || !KEY.test(accessKey) || !KEY.test(secretKey)) return null;
  // It parts the credential of a signature.
  if (accessKey.includes('/')) return null;
  return {
    isTls: url.protocol === 'https:',
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    accessKey,
    secretKey,
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    region,
  };
};

/** For HTTP's Host, and for the log: without who asks. */
export const s3Host = ({ isTls, host, port }: S3Address): string => {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (isTls ? 443 : 80) ? name : `${name}:${port}`;
};
