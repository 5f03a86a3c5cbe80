import { faultOf } from '../../analytics/sound-xml.js';
import { all, at, type Element, parseXml } from '../../analytics/xml-tree.js';
import { type UsernameToken, usernameTokenOf } from './username-token.js';

/** What clients ask is short: the longest question has some thirty. */
const MAX_ELEMENTS = 400;

/** One request, read. */
export type Question = {
  readonly operation: string;
  readonly element: Element;
  readonly token: UsernameToken | null;
};

/** Null where it is no SOAP, or can't be read: never throws, whatever that is. */
export const readQuestion = (given: string): Question | null => {
  const text = given.replace(/^\ufeff/, '');
  if (faultOf(text, MAX_ELEMENTS) !== null) return null;
  try {
    const envelope = at(parseXml(text), 'Envelope');
    const body = at(envelope, 'Body');
    if (body === undefined || typeof body === 'string') return null;
    const operation = Object.keys(body).find((key) => !key.startsWith('@') && !key.startsWith('#'));
    const element = operation === undefined ? undefined : all(body, operation)[0];
    if (operation === undefined || element === undefined) return null;
    return { operation, element, token: usernameTokenOf(at(envelope, 'Header')) };
  } catch {
    return null;
  }
};
