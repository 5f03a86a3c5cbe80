const MAX_REFERENCE = 2_048;
const MAX_DECLARATIONS = 32;
const MAX_NAMESPACE = 256;

export type Reference = { readonly xml: string; readonly declarations: string };

const none: Reference = { xml: '', declarations: '' };

/**
 * What a camera wants to be told with each question about a subscription (WS-Addressing 1.0 Core §2.1, reference parameters),
 * as it wrote it, with the namespaces that it declared. `text` is a document that was found sound: its tags are whole.
 */
export const referenceOf = (text: string): Reference => {
  const opened = /<(?:[\w.-]{1,64}:)?ReferenceParameters(?:\s[^<>]*)?>/.exec(text);
  if (opened === null || opened[0].endsWith('/>')) return none;
  const begin = opened.index + opened[0].length;
  const named = text.indexOf('ReferenceParameters', begin);
  const end = named < 0 ? -1 : text.lastIndexOf('</', named);
  const xml = end < begin ? '' : text.slice(begin, end).trim();
  if (xml === '' || xml.length > MAX_REFERENCE) return none;
  const declared = new Map<string, string>();
  for (const [, prefix, uri] of text
    .slice(0, end)
    .matchAll(/\sxmlns:([\w.-]{1,64})=(?:"([^"<]*)"|'[^']*')/g)) {
    if (declared.size >= MAX_DECLARATIONS) break;
    if (uri !== undefined && uri.length <= MAX_NAMESPACE && xml.includes(`${prefix}:`))
      declared.set(prefix!, uri);
  }
  return { xml, declarations: [...declared].map(([prefix, uri]) => ` xmlns:${prefix}="${uri}"`).join('') };
};
