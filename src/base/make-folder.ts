import { mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const codeOf = (thrown: unknown): string | undefined => (thrown as NodeJS.ErrnoException).code;

/**
 * Makes a folder and those above it that are missing; throws what the system says. Node's own recursive mkdirSync
 * never returns where making a folder fails with ENOENT though the one above is there, as in /proc.
 */
export const makeFolder = (path: string): void => {
  try {
    mkdirSync(path);
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST' && statSync(path).isDirectory()) return;
    const above = dirname(path);
    const isAboveMissing = statSync(above, { throwIfNoEntry: false }) === undefined;
    if (codeOf(thrown) !== 'ENOENT' || !isAboveMissing || above === path) throw thrown;
    makeFolder(above);
    mkdirSync(path);
  }
};

/** Throws if nothing can be made in a folder for a reason other than a full disk, which mends by itself. */
export const checkWritable = (folder: string): void => {
  try {
    // Permission bits don't tell: root passes them where the file system still refuses.
    rmdirSync(mkdtempSync(join(folder, '.write-check-')));
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOSPC' && codeOf(thrown) !== 'EDQUOT') throw thrown;
  }
};
