import { faultOf } from '../../analytics/sound-xml.js';
import { all, at, type Element, parseXml, textOf } from '../../analytics/xml-tree.js';
import { DEVICE_PATH } from '../device-address.js';
import { plainLine } from '../soap.js';

const ADDRESSING = 'http://schemas.xmlsoap.org/ws/2004/08/addressing';
const DISCOVERY = 'http://schemas.xmlsoap.org/ws/2005/04/discovery';

/**
 * Kinds of devices that are asked for (ONVIF Core §7.3.1). Some answer to one of them alone, and some only where nothing
 * is asked for.
 */
export const PROBED_TYPES = ['dn:NetworkVideoTransmitter', 'tds:Device', ''] as const;

/** A question to all (WS-Discovery §5.2). */
export const probeMessage = (id: string, types: string): string =>
  '<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" ' +
  `xmlns:a="${ADDRESSING}" xmlns:d="${DISCOVERY}" xmlns:dn="http://www.onvif.org/ver10/network/wsdl" ` +
  'xmlns:tds="http://www.onvif.org/ver10/device/wsdl"><s:Header>' +
  `<a:Action s:mustUnderstand="1">${DISCOVERY}/Probe</a:Action><a:MessageID>urn:uuid:${id}</a:MessageID>` +
  `<a:ReplyTo><a:Address>${ADDRESSING}/role/anonymous</a:Address></a:ReplyTo>` +
  '<a:To s:mustUnderstand="1">urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To></s:Header><s:Body><d:Probe>' +
  `${types === '' ? '' : `<d:Types>${types}</d:Types>`}</d:Probe></s:Body></s:Envelope>`;

/** A device that answered. */
export type FoundDevice = {
  /** What it calls itself among all devices; cheap ones share one. */
  readonly endpoint: string;
  /** Of its device service, on the host that the answer came from. */
  readonly address: string;
  readonly host: string;
  readonly name: string;
  readonly hardware: string;
  readonly location: string;
};

export const MAX_REPLY_BYTES = 16 * 1024;
const MAX_ELEMENTS = 500;
const MAX_MATCHES = 16;
const MAX_WORDS = 64;
const MAX_TEXT = 64;
const MAX_ENDPOINT = 128;
const MAX_ADDRESS = 512;
const SCOPE = /^onvif:\/\/www\.onvif\.org\/(name|hardware|location)\/(.+)$/i;

const words = (element: Element | undefined): string[] =>
  textOf(element)
    .split(/\s+/, MAX_WORDS)
    .filter((word) => word !== '');

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const scopesOf = (match: Element): Record<'name' | 'hardware' | 'location', string> => {
  const found = { name: '', hardware: '', location: '' };
  for (const scope of words(at(match, 'Scopes'))) {
    const [, kind = '', value = ''] = SCOPE.exec(scope) ?? [];
    const key = kind.toLowerCase() as keyof typeof found;
    if (kind !== '' && found[key] === '') found[key] = plainLine(decoded(value), MAX_TEXT);
  }
  return found;
};

const isCamera = (match: Element): boolean => {
  const types = words(at(match, 'Types'));
  return (
    types.some((type) => /(?:^|:)(?:NetworkVideo\w+|Device)$/.test(type)) ||
    words(at(match, 'Scopes')).some((scope) => /^onvif:/i.test(scope))
  );
};

/** The address that it tells of its device service, on the host that spoke: others' it may tell as it likes. */
const addressOf = (match: Element, sender: string): string => {
  const told = words(at(match, 'XAddrs')).filter(
    (text) => text.length <= MAX_ADDRESS && /^https?:\/\//i.test(text) && URL.canParse(text),
  );
  const own = told.find((text) => new URL(text).hostname === sender) ?? told[0];
  if (own === undefined) return `http://${sender}${DEVICE_PATH}`;
  const url = new URL(own);
  // Nothing is translated between a probe and its answer: the port is the sender's own.
  url.hostname = sender;
  url.username = url.password = url.hash = '';
  return url.href;
};

/** Some end with zeros. No expression finds these in a time that is in proportion, wherever zeros stand. */
const withoutPadding = (bytes: Buffer): Buffer => {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.subarray(0, end);
};

/** The devices that a datagram tells of; none where it is anything else, or can't be read. Never throws. */
export const readReply = (bytes: Buffer, sender: string): FoundDevice[] => {
  if (bytes.length > MAX_REPLY_BYTES) return [];
  const text = withoutPadding(bytes)
    .toString('utf8')
    .replace(/^\ufeff/, '');
  if (faultOf(text, MAX_ELEMENTS) !== null) return [];
  try {
    return all(at(parseXml(text), 'Envelope', 'Body', 'ProbeMatches'), 'ProbeMatch')
      .slice(0, MAX_MATCHES)
      .filter(isCamera)
      .map((match) => ({
        endpoint: plainLine(textOf(at(match, 'EndpointReference', 'Address')), MAX_ENDPOINT),
        address: addressOf(match, sender),
        host: sender,
        ...scopesOf(match),
      }));
  } catch {
    return [];
  }
};
