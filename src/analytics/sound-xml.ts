/** What cameras send is shallow and short; more of it is a fault, or ill will. */
const MAX_DEPTH = 32;
/** Of a document about pictures. */
const MAX_ELEMENTS = 4_000;
/** Of one tag with all its attributes. */
const MAX_TAG = 8_192;

/** Where a tag that begins at `from` ends: at its `>`, which may stand in quotes before; -1: nowhere. */
const endOfTag = (text: string, from: number): number => {
  const limit = Math.min(text.length, from + MAX_TAG);
  let quote = '';
  for (let at = from + 1; at < limit; at += 1) {
    const character = text[at]!;
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return at;
    else if (character === '<') return -1;
  }
  return -1;
};

const nameIn = (tag: string): string => /^[^\s/>]*/.exec(tag)![0];

/** Behind what is no element: a comment, CDATA, an instruction. -1: it has no end, or is none of those. */
const behindOther = (text: string, at: number): number => {
  const behind = (closing: string, from: number): number => {
    const end = text.indexOf(closing, from);
    return end < 0 ? -1 : end + closing.length;
  };
  if (text.startsWith('<?', at)) return behind('?>', at + 2);
  if (text.startsWith('<!--', at)) return behind('-->', at + 4);
  return text.startsWith('<![CDATA[', at) ? behind(']]>', at + 9) : -1;
};

/**
 * What is wrong with a document before a parser may see it, null where nothing is: each element is closed by its own
 * name, one of them holds all others, and there are neither too many nor too deep ones. A document type is refused, and
 * with it all entities that anybody could define. Takes time in proportion to its length, whatever is in it.
 */
export const faultOf = (text: string, maxElements = MAX_ELEMENTS): string | null => {
  const open: string[] = [];
  let hasRoot = false;
  /** With all else that the parser stops at: instructions, comments, CDATA. */
  let elements = 0;
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at)) {
    const mark = text[at + 1];
    if (mark !== '/') elements += 1;
    if (elements > maxElements) return 'too many elements';
    if (mark === '!' || mark === '?') {
      if (/^<!(?:doctype|entity)/i.test(text.slice(at, at + 9))) return 'a document type';
      at = behindOther(text, at);
      if (at < 0) return 'not well-formed';
      continue;
    }
    const end = endOfTag(text, at);
    if (end < 0) return 'not well-formed';
    if (mark === '/') {
      if (open.pop() !== nameIn(text.slice(at + 2, end))) return 'not well-formed';
    } else {
      const name = nameIn(text.slice(at + 1, end));
      if (name === '' || (open.length === 0 && hasRoot)) return 'not well-formed';
      hasRoot = true;
      if (text[end - 1] !== '/') open.push(name);
      if (open.length > MAX_DEPTH) return 'too deep';
    }
    at = end;
  }
  return open.length > 0 || !hasRoot ? 'not well-formed' : null;
};
