/** What a command may be told: `--name value` on the command line; each has a default, and a given one its type. */
export type Defaults = Readonly<Record<string, string | number | boolean>>;

/** What the person at the command line has to do otherwise. */
export class UsageError extends Error {}

/** A value as it was typed, read as its default is. */
export const readValue = <Value extends string | number | boolean>(
  name: string,
  text: string,
  fallback: Value,
): Value => {
  if (typeof fallback === 'boolean') {
    if (text !== 'true' && text !== 'false') throw new UsageError(`--${name} is true or false, not ${text}`);
    return (text === 'true') as Value;
  }
  if (typeof fallback === 'string') return text as Value;
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new UsageError(`--${name} wants a number, not ${text || 'nothing'}`);
  return value as Value;
};

const unknownOption = (command: string, name: string, known: Defaults): UsageError =>
  new UsageError(
    `${command} has no --${name}; it has ${
      Object.keys(known)
        .map((each) => `--${each}`)
        .join(', ') || 'none'
    }`,
  );

type Typed<Known extends Defaults> = {
  -readonly [Name in keyof Known]: Known[Name] extends number
    ? number
    : Known[Name] extends boolean
      ? boolean
      : string;
};

/** `--name value`, `--name=value`, and `--name` alone where it is a flag; what is no option is in `rest`. */
export const readOptions = <Known extends Defaults>(
  command: string,
  defaults: Known,
  args: readonly string[],
): { readonly options: Typed<Known>; readonly rest: readonly string[] } => {
  const options: Record<string, string | number | boolean> = { ...defaults };
  const rest: string[] = [];
  for (let index = 0; index < args.length; index += 1) {
    const arg = args[index]!;
    const [, name, joined] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    if (name === undefined) {
      rest.push(arg);
      continue;
    }
    const fallback = Object.hasOwn(defaults, name) ? defaults[name] : undefined;
    if (fallback === undefined) throw unknownOption(command, name, defaults);
    if (typeof fallback === 'boolean') options[name] = readValue(name, joined ?? 'true', fallback);
    else options[name] = readValue(name, joined ?? args[++index] ?? '', fallback);
  }
  return { options: options as Typed<Known>, rest };
};
