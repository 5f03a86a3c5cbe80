import { readFileSync } from 'node:fs';

/** The version of this very program. */
export const ownVersion = (): string => {
  const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
};
