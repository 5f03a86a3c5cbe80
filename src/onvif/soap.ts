import { createHash } from 'node:crypto';
import { faultOf } from '../analytics/sound-xml.js';
import { all, at, type Element, parseXml, textOf } from '../analytics/xml-tree.js';
import { messageOf } from '../base/errors.js';
import type { Credentials } from '../rtsp/auth.js';

const SOAP = 'http://www.w3.org/2003/05/soap-envelope';
const WSS = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss';
/** A recorder with 32 cameras has some 6,000. */
const MAX_ELEMENTS = 12_000;

/** Text as it may stand between tags and in attributes; what XML has no way to say is left out. */
export const escapeXml = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: those that XML 1.0 §2.2 leaves out
    .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/**
 * Who asks, as a digest of the password with the time on the camera's own clock, which is the one that it compares it
 * with (WS-Security UsernameToken Profile 1.0 §3.1).
 */
export const usernameToken = (credentials: Credentials, nonce: Buffer, cameraMs: number): string => {
  const created = new Date(cameraMs).toISOString();
  const digest = createHash('sha1')
    .update(nonce)
    .update(created)
    .update(credentials.password, 'utf8')
    .digest('base64');
  return (
    `<Security s:mustUnderstand="1" xmlns="${WSS}-wssecurity-secext-1.0.xsd"><UsernameToken>` +
    `<Username>${escapeXml(credentials.user)}</Username>` +
    `<Password Type="${WSS}-username-token-profile-1.0#PasswordDigest">${digest}</Password>` +
    `<Nonce EncodingType="${WSS}-soap-message-security-1.0#Base64Binary">${nonce.toString('base64')}</Nonce>` +
    `<Created xmlns="${WSS}-wssecurity-utility-1.0.xsd">${created}</Created></UsernameToken></Security>`
  );
};

/** A whole request. `declarations`: namespaces that the header needs, with a space before each. */
export const envelope = (body: string, header: string, declarations = ''): string =>
  `<?xml version="1.0" encoding="UTF-8"?><s:Envelope xmlns:s="${SOAP}">` +
  `${header === '' ? '' : `<s:Header${declarations}>${header}</s:Header>`}<s:Body>${body}</s:Body></s:Envelope>`;

/** What a device says instead of an answer. */
export type SoapFault = {
  /** Local names from the outside in: `Sender NotAuthorized`. */
  readonly codes: readonly string[];
  /** In its own words; "" for none. */
  readonly reason: string;
};

export type SoapAnswer =
  | { readonly kind: 'answer'; readonly name: string; readonly element: Element }
  | { readonly kind: 'fault'; readonly fault: SoapFault }
  /** `isXml`: it is some other document, or a broken one. */
  | { readonly kind: 'unreadable'; readonly reason: string; readonly isXml: boolean };

const MAX_REASON = 200;
const MAX_CODES = 4;

/** What a device wrote, fit for a line of text: no control characters, no more than that. */
export const plainLine = (text: string, maxLength: number): string =>
  text
    .replaceAll(/[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, maxLength);

const localName = (text: string): string => plainLine(text.replace(/^.*:/s, ''), 64);

const readFault = (element: Element): SoapFault => {
  const codes: string[] = [];
  for (
    let code = at(element, 'Code');
    code !== undefined && codes.length < MAX_CODES;
    code = at(code, 'Subcode')
  )
    codes.push(localName(textOf(at(code, 'Value'))));
  // SOAP 1.1 has them otherwise (§4.4).
  if (codes.length === 0) codes.push(localName(textOf(at(element, 'faultcode'))));
  const reason = textOf(at(element, 'Reason', 'Text')) || textOf(at(element, 'faultstring'));
  return { codes, reason: plainLine(reason, MAX_REASON) };
};

/** Reads what a device sent: never throws, whatever that is. */
export const readAnswer = (bytes: Buffer, maxElements = MAX_ELEMENTS): SoapAnswer => {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const isXml = /^\s*<(?:\?xml|[\w.-]*:?Envelope)/i.test(text);
  const fault = faultOf(text, maxElements);
  if (fault !== null) return { kind: 'unreadable', reason: fault, isXml };
  try {
    const body = at(parseXml(text), 'Envelope', 'Body');
    if (body === undefined || typeof body === 'string')
      return { kind: 'unreadable', reason: 'no SOAP in it', isXml };
    const name = Object.keys(body).find((key) => !key.startsWith('@') && !key.startsWith('#'));
    const element = name === undefined ? undefined : all(body, name)[0];
    if (name === undefined || element === undefined)
      return { kind: 'unreadable', reason: 'nothing in it', isXml };
    return name === 'Fault'
      ? { kind: 'fault', fault: readFault(element) }
      : { kind: 'answer', name, element };
  } catch (error) {
    return { kind: 'unreadable', reason: plainLine(messageOf(error), 100), isXml };
  }
};
