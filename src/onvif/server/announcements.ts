import { faultOf } from '../../analytics/sound-xml.js';
import { at, type Element, parseXml, textOf } from '../../analytics/xml-tree.js';
import { escapeXml } from '../soap.js';
import { SCOPES } from './device-service.js';

const SOAP = 'http://www.w3.org/2003/05/soap-envelope';
const ADDRESSING = 'http://schemas.xmlsoap.org/ws/2004/08/addressing';
const DISCOVERY = 'http://schemas.xmlsoap.org/ws/2005/04/discovery';
const ANONYMOUS = `${ADDRESSING}/role/anonymous`;
const ALL = 'urn:schemas-xmlsoap-org:ws:2005:04:discovery';

/** Recorders' questions have 600 to 1,500 bytes. */
const MAX_PROBE_BYTES = 4_096;
const MAX_ELEMENTS = 64;
const MAX_ID = 128;
const MAX_WORDS = 16;
/** What we are (ONVIF Core §7.3.1). */
const TYPES: ReadonlySet<string> = new Set(['NetworkVideoTransmitter', 'Device']);

/** Who speaks: as one of all devices, and since which start (WS-Discovery appendix I). */
export type Speaker = { readonly uuid: string; readonly startedSec: number; readonly messageNumber: number };

const words = (element: Element | undefined): string[] =>
  textOf(element)
    .split(/\s+/, MAX_WORDS)
    .filter((word) => word !== '');

const isOurType = (word: string): boolean => TYPES.has(word.replace(/^.*:/, ''));

/** By RFC 3986's parts of a path, which is what WS-Discovery §5.1 has where nothing else is said. */
const isOurScope = (word: string): boolean => {
  const wanted = word.toLowerCase().replace(/\/$/, '');
  return SCOPES.some((scope) => {
    const own = scope.toLowerCase();
    return own === wanted || own.startsWith(`${wanted}/`);
  });
};

/** The id of a question that is meant for us; null: it is another's, or nothing that can be read. Never throws. */
export const readProbe = (bytes: Buffer): string | null => {
  if (bytes.length > MAX_PROBE_BYTES) return null;
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  if (faultOf(text, MAX_ELEMENTS) !== null) return null;
  try {
    const envelope = at(parseXml(text), 'Envelope');
    const probe = at(envelope, 'Body', 'Probe');
    const id = textOf(at(envelope, 'Header', 'MessageID'));
    if (probe === undefined || id === '' || id.length > MAX_ID) return null;
    const isMeant =
      words(at(probe, 'Types')).every(isOurType) && words(at(probe, 'Scopes')).every(isOurScope);
    return isMeant ? id : null;
  } catch {
    return null;
  }
};

const messageXml = (
  { uuid, startedSec, messageNumber }: Speaker,
  { action, to, relatesTo, id }: { action: string; to: string; relatesTo: string | null; id: string },
  body: string,
): string =>
  `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="${SOAP}" xmlns:a="${ADDRESSING}" xmlns:d="${DISCOVERY}" ` +
  'xmlns:dn="http://www.onvif.org/ver10/network/wsdl" xmlns:tds="http://www.onvif.org/ver10/device/wsdl"><s:Header>' +
  `<a:MessageID>urn:uuid:${id}</a:MessageID>${relatesTo === null ? '' : `<a:RelatesTo>${escapeXml(relatesTo)}</a:RelatesTo>`}` +
  `<a:To>${to}</a:To><a:Action>${DISCOVERY}/${action}</a:Action>` +
  `<d:AppSequence InstanceId="${startedSec}" SequenceId="urn:uuid:${uuid}" MessageNumber="${messageNumber}"/></s:Header>` +
  `<s:Body>${body}</s:Body></s:Envelope>`;

const whoXml = (uuid: string): string =>
  `<a:EndpointReference><a:Address>urn:uuid:${uuid}</a:Address></a:EndpointReference>`;

const selfXml = (uuid: string, address: string): string =>
  `${whoXml(uuid)}<d:Types>dn:NetworkVideoTransmitter tds:Device</d:Types><d:Scopes>${SCOPES.join(' ')}</d:Scopes>` +
  `<d:XAddrs>${escapeXml(address)}</d:XAddrs><d:MetadataVersion>1</d:MetadataVersion>`;

/** Answers the question with that id: our device service is at `address`. */
export const matchXml = (speaker: Speaker, id: string, relatesTo: string, address: string): string =>
  messageXml(
    speaker,
    { action: 'ProbeMatches', to: ANONYMOUS, relatesTo, id },
    `<d:ProbeMatches><d:ProbeMatch>${selfXml(speaker.uuid, address)}</d:ProbeMatch></d:ProbeMatches>`,
  );

/** Says to all that we are there. */
export const helloXml = (speaker: Speaker, id: string, address: string): string =>
  messageXml(
    speaker,
    { action: 'Hello', to: ALL, relatesTo: null, id },
    `<d:Hello>${selfXml(speaker.uuid, address)}</d:Hello>`,
  );

/** Says to all that we leave. */
export const byeXml = (speaker: Speaker, id: string): string =>
  messageXml(
    speaker,
    { action: 'Bye', to: ALL, relatesTo: null, id },
    `<d:Bye>${whoXml(speaker.uuid)}</d:Bye>`,
  );
