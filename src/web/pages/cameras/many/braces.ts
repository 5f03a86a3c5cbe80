/** Why braces can't be written out: `range`: its ends are no numbers; `many`: more than may come of a text. */
export type BraceFault = 'range' | 'many';

/** One of the texts that a pattern stands for, and what stood for its braces. */
export type Expanded = { readonly text: string; readonly values: readonly string[] };

const RANGE = /^(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.(\d{1,9}))?$/;

type Piece = { readonly count: number; readonly at: (index: number) => string };

const literal = (text: string): Piece => ({ count: 1, at: () => text });

/** `{08..12}` keeps the width of its ends, as shells do; a step may follow. */
const rangePiece = (match: RegExpExecArray): Piece => {
  const [, from = '', to = '', step = '1'] = match;
  const [first, last] = [Number(from), Number(to)];
  const by = Math.max(1, Number(step)) * (first <= last ? 1 : -1);
  const isPadded = [from, to].some((end) => /^-?0\d/.test(end));
  const width = isPadded ? Math.max(from.length, to.length) : 0;
  return {
    count: Math.floor((last - first) / by) + 1,
    at: (index) => {
      const value = first + index * by;
      return value < 0 ? `-${String(-value).padStart(width - 1, '0')}` : String(value).padStart(width, '0');
    },
  };
};

/** What is within braces; null: they stand for themselves, as they may in a password. */
const pieceOf = (inside: string): Piece | null | 'range' => {
  const range = RANGE.exec(inside);
  if (range !== null) return rangePiece(range);
  const items = inside.split(',');
  if (items.length > 1) return { count: items.length, at: (index) => items[index] ?? '' };
  return inside.includes('..') ? 'range' : null;
};

/**
 * Writes out what `rtsp://10.0.0.{11..60}/{main,sub}` stands for, the last braces running fastest. What comes of it is
 * counted before any of it is made.
 */
export const expandBraces = (pattern: string, max: number): readonly Expanded[] | BraceFault => {
  const pieces: Piece[] = [];
  const isVaried: boolean[] = [];
  let total = 1;
  for (const part of pattern.split(/(\{[^{}]*\})/)) {
    const piece = part.startsWith('{') && part.endsWith('}') ? pieceOf(part.slice(1, -1)) : null;
    if (piece === 'range') return 'range';
    pieces.push(piece ?? literal(part));
    isVaried.push(piece !== null);
    total *= piece?.count ?? 1;
    if (total > max) return 'many';
  }
  return Array.from({ length: total }, (_, nth) => {
    let rest = nth;
    const texts = pieces.map(() => '');
    for (let index = pieces.length - 1; index >= 0; index--) {
      const { count, at } = pieces[index] as Piece;
      texts[index] = at(rest % count);
      rest = Math.floor(rest / count);
    }
    return { text: texts.join(''), values: texts.filter((_text, index) => isVaried[index]) };
  });
};
