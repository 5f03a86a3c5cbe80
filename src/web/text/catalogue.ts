import { isolated } from './isolated.js';

/** The names between braces in a text: "{count} cameras" asks for `count`. */
type Names<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Names<Rest>
  : never;
type Values<Text extends string> = { readonly [Name in Names<Text>]: string | number };
type Rest<Text extends string> = [Names<Text>] extends [never] ? [] : [values: Values<Text>];

const accents: Readonly<Record<string, string>> = {
  a: 'á',
  e: 'é',
  i: 'í',
  o: 'ó',
  u: 'ú',
  A: 'Á',
  E: 'É',
  O: 'Ó',
};

/** Longer by two fifths and full of accents: shows where a translation would not fit, or a text isn't from here. */
const pseudo = (text: string): string => {
  const letters = text.replace(/\{[^}]*\}|[aeiouAEO]/g, (found) => accents[found] ?? found);
  return `[${letters}${'·'.repeat(Math.ceil(text.length * 0.4))}]`;
};

let isPseudo = false;

/** For tests: `?locale=pseudo` turns every text into its longer self, and the page from right to left. */
export const usePseudoLocale = (): void => {
  isPseudo = true;
  document.documentElement.dir = 'rtl';
};

/**
 * The texts of one room, by key. What is called gives a text with its values put in; a key that is not there, or a value
 * that is missing, does not compile. Each room has one of these: a translation is another object of the same form.
 */
export const catalogue =
  <const Texts extends Readonly<Record<string, string>>>(texts: Texts) =>
  <Key extends keyof Texts & string>(key: Key, ...[values]: Rest<Texts[Key]>): string => {
    const text = isPseudo ? pseudo(texts[key] as string) : (texts[key] as string);
    if (values === undefined) return text;
    return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
      isolated(String((values as Readonly<Record<string, string | number>>)[name] ?? whole)),
    );
  };
