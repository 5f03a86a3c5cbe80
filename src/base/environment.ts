import { isIP } from 'node:net';
import { AppError } from './errors.js';

/** As the process was started with it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The fault of one variable; the message names it and says what it may be. */
export const bad = (name: string, text: string, wanted: string): AppError<'bad_config'> =>
  new AppError('bad_config', `${name}=${JSON.stringify(text)} can't be used: ${wanted}`);

/** An empty value is an unset one, as in most env files. */
export const textOf = (env: Environment, name: string): string | null => env[name]?.trim() || null;

export const integerOf = (
  env: Environment,
  name: string,
  fallback: number,
  min: number,
  max: number,
): number => {
  const text = textOf(env, name);
  if (text === null) return fallback;
  const value = Number(text);
  if (!/^\d{1,10}$/.test(text) || value < min || value > max) {
    throw bad(name, text, `it must be a whole number from ${min} to ${max}`);
  }
  return value;
};

export const optionalPortOf = (env: Environment, name: string): number | null =>
  textOf(env, name) === null ? null : integerOf(env, name, 0, 0, 65_535);

export const listOf = (env: Environment, name: string): string[] =>
  (textOf(env, name) ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

export const hostOf = (env: Environment, name: string, fallback: string): string => {
  const text = textOf(env, name) ?? fallback;
  if (isIP(text) === 0 && !/^[A-Za-z0-9.-]{1,253}$/.test(text))
    throw bad(name, text, 'it must be an address or a host name');
  return text;
};

export const booleanOf = (env: Environment, name: string): boolean => {
  const text = textOf(env, name) ?? 'false';
  if (text !== 'true' && text !== 'false') throw bad(name, text, 'it must be true or false');
  return text === 'true';
};
