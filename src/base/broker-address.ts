/** Where the broker is, and who it is asked as. */
export type BrokerAddress = {
  readonly isTls: boolean;
  /** Without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  /** Null: it is asked as nobody. */
  readonly username: string | null;
  readonly password: string | null;
};

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'mqtt:': 1883, 'mqtts:': 8883 };
const MAX_LENGTH = 2_048;
/** MQTT 3.1.1, section 1.5.3: what a text of a packet can't have. */
const hasNul = (text: string): boolean => text.includes('\0');

const decoded = (text: string): string | null => {
  try {
    const plain = decodeURIComponent(text);
    return hasNul(plain) ? null : plain;
  } catch {
    return null;
  }
};

/** `mqtt://[user[:password]@]host[:port]`, or `mqtts:`; null: it is no such address. */
export const brokerAddressOf = (text: string): BrokerAddress | null => {
  if (text.length > MAX_LENGTH || !URL.canParse(text)) return null;
  const url = new URL(text);
  const { protocol, hostname, pathname, search, hash } = url;
  const defaultPort = DEFAULT_PORTS[protocol];
  const isBare = (pathname === '' || pathname === '/') && search === '' && hash === '';
  if (defaultPort === undefined || hostname === '' || !isBare || url.port === '0') return null;
  const username = decoded(url.username);
  const password = decoded(url.password);
  // Section 3.1.2.9: no password without a name.
  if (username === null || password === null || (username === '' && password !== '')) return null;
  return {
    isTls: protocol === 'mqtts:',
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? defaultPort : Number(url.port),
    username: username === '' ? null : username,
    password: password === '' ? null : password,
  };
};

/** For the log: without who it is asked as. */
export const brokerName = ({ host, port }: BrokerAddress): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;
