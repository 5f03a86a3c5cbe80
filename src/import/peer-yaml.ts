import { parse } from 'yaml';
import { AppError } from '../base/errors.js';

export const MAX_FILE_BYTES = 1_000_000;
const MAX_ALIASES = 100;

export type Fields = Readonly<Record<string, unknown>>;

/** A mapping's fields; of anything else none. */
export const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** One value, or a list of them. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];

/** One plain value as text; "" for anything else. */
export const textOf = (value: unknown): string =>
  typeof value === 'object' || value === undefined ? '' : String(value);

/** YAML 1.1 also says yes and no, and such files are still around. */
export const isOn = (value: unknown): boolean => /^(?:true|yes|on)$/i.test(textOf(value));

/** Whether a field was left empty. */
export const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value as object).length === 0);

/** Both, field by field down to the innermost; where both have one, `own` counts. */
export const merged = (general: Fields, own: Fields): Fields =>
  Object.fromEntries([
    ...Object.entries(general),
    ...Object.entries(own).map(([name, value]) => {
      const inner = fieldsOf(value);
      return [name, inner === value ? merged(fieldsOf(general[name]), inner) : value] as const;
    }),
  ]);

/** A file of another recorder as plain values. What is wrong with it never repeats a line of it: it holds passwords. */
export const parsePeerYaml = (text: string): Fields => {
  if (Buffer.byteLength(text) > MAX_FILE_BYTES)
    throw new AppError('bad_file', `the file is larger than ${MAX_FILE_BYTES} bytes`);
  try {
    const value: unknown = parse(text, {
      maxAliasCount: MAX_ALIASES,
      merge: true,
      prettyErrors: false,
      logLevel: 'silent',
    });
    return fieldsOf(value);
  } catch {
    throw new AppError('bad_file', 'the file is not YAML, is nested too deeply, or has too many aliases');
  }
};
