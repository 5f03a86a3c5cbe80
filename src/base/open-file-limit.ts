import { readFileSync } from 'node:fs';

/** How many files and sockets the process may have open, or null where that isn't told or there is no limit. */
export const openFileLimit = (): number | null => {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'));
    return limit === null ? null : Number(limit[1]);
  } catch {
    return null;
  }
};
