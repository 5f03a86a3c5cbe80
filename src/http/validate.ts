import type { z } from 'zod';
import { type InputFault, invalidInput } from './problem.js';

/** A path as a reader of JSON would write it: `cameras[3].tags[0]`. */
const pathText = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`;
    return text === '' ? String(key) : `${text}.${String(key)}`;
  }, '');

/** Every fault that the schema found; an unknown field is named by its own path. */
export const faultsOf = (error: z.ZodError): InputFault[] =>
  error.issues.flatMap((issue): InputFault[] => {
    if (issue.code !== 'unrecognized_keys') return [{ path: pathText(issue.path), message: issue.message }];
    return issue.keys.map((key) => ({ path: pathText([...issue.path, key]), message: 'unknown field' }));
  });

/** The value as the schema understands it, or a 400 that lists every fault, and those that `further` finds. */
export const validate = <T>(
  schema: z.ZodType<T>,
  value: unknown,
  further: (value: unknown) => readonly InputFault[] = () => [],
  maxListedFaults?: number,
): T => {
  const result = schema.safeParse(value);
  if (!result.success) throw invalidInput([...faultsOf(result.error), ...further(value)], maxListedFaults);
  return result.data;
};
