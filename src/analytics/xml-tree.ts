import { XMLParser } from 'fast-xml-parser';

/** An element as the parser gives it: its text, or what is in it, each by its name; those of attributes have an `@`. */
export type Element = string | { readonly [name: string]: string | readonly Element[] };

const TEXT = '#text';
const ATTRIBUTE = '@';

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: ATTRIBUTE,
  textNodeName: TEXT,
  // Vendors call the same namespace tt, ns2, or nothing.
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  // Of each element there may be several: so there is one shape for all.
  isArray: () => true,
});

/** Of text that has been found sound. Throws where the parser thinks otherwise. */
export const parseXml = (text: string): Element => parser.parse(text) as Element;

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** The five that each document has (XML 1.0 §4.6); no others can be. */
const plain = (text: string): string =>
  text.includes('&')
    ? text.replaceAll(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ENTITIES[name]!)
    : text;

/** The elements of that name in an element, by their local names. */
export const all = (element: Element | undefined, name: string): readonly Element[] => {
  if (element === undefined || typeof element === 'string' || !Object.hasOwn(element, name)) return [];
  const found = element[name]!;
  return typeof found === 'string' ? [found] : found;
};

/** The first element on a way down. */
export const at = (element: Element | undefined, ...names: readonly string[]): Element | undefined =>
  names.reduce<Element | undefined>((found, name) => all(found, name)[0], element);

export const textOf = (element: Element | undefined): string => {
  const text = typeof element === 'string' ? element : all(element, TEXT)[0];
  return typeof text === 'string' ? plain(text).trim() : '';
};

/** "" where there is none. */
export const attribute = (element: Element | undefined, name: string): string =>
  textOf(all(element, ATTRIBUTE + name)[0]);

/** Null where it is no number. */
export const number = (text: string): number | null => {
  const value = text === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
};

/** xs:dateTime; where no zone is told UTC is meant. Null where it is no time. */
export const utcMs = (text: string): number | null => {
  const match = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?)(Z|[+-]\d\d:\d\d)?$/i.exec(text);
  if (match === null) return null;
  const value = Date.parse(`${match[1]!.replace(',', '.').slice(0, 23)}${match[2] ?? 'Z'}`);
  return Number.isFinite(value) ? value : null;
};
