/** One scheme that the camera offers in `WWW-Authenticate`. */
export type Challenge = {
  /** Lower case. */
  readonly scheme: string;
  /** Names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
};

const MAX_TEXT_CHARS = 8192;
const MAX_CHALLENGES = 16;

/** A parameter: `name = "quoted"` or `name = bare`; an unclosed quote runs to the end. */
const parameterPattern = /([\w!#$%&'*+.^`|~-]+)[ \t]*=[ \t]*("(?:[^"\\]|\\.)*"?|[^,\s]*)/y;
const schemePattern = /[\w!#$%&'*+.^`|~-]+/y;
const separatorPattern = /[\s,]*/y;

const matchAt = (pattern: RegExp, text: string, at: number): RegExpExecArray | null => {
  pattern.lastIndex = at;
  return pattern.exec(text);
};

const unquoted = (value: string): string =>
  value.startsWith('"') ? value.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : value;

/**
 * Reads challenges (RFC 9110 §11.6.1): several in one header or in several, values quoted or not, parameters that
 * no standard knows (Hikvision's `random`) kept unread. What makes no sense is passed over.
 */
export const parseChallenges = (headerValues: readonly string[]): Challenge[] => {
  const found: { scheme: string; parameters: Map<string, string> }[] = [];
  for (const value of headerValues) {
    const text = value.slice(0, MAX_TEXT_CHARS);
    let current: Map<string, string> | null = null;
    let at = 0;
    while (at < text.length && found.length < MAX_CHALLENGES) {
      at += matchAt(separatorPattern, text, at)?.[0].length ?? 0;
      const parameter: RegExpExecArray | null = matchAt(parameterPattern, text, at);
      const scheme: RegExpExecArray | null = parameter === null ? matchAt(schemePattern, text, at) : null;
      if (parameter !== null) {
        const name = parameter[1]!.toLowerCase();
        if (current !== null && !current.has(name)) current.set(name, unquoted(parameter[2]!));
      } else if (scheme !== null) {
        current = new Map();
        found.push({ scheme: scheme[0].toLowerCase(), parameters: current });
      }
      at += Math.max(1, (parameter ?? scheme)?.[0].length ?? 1);
    }
  }
  return found;
};
