import {
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';

/** Writes all of `bytes` at `offset`. */
export const writeAt = (fd: number, bytes: Buffer, offset: number): void => {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, offset + at);
};

/** Makes sure that what was created, linked or removed in `folder` is still so after a power cut. */
export const syncFolder = (folder: string): void => {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
};

/**
 * Gives a finished, synced draft its name, unless a file has that name already (then false, and that file stays).
 * Linking instead of renaming is what makes it exclusive; the name never shows half a file, whatever crashes.
 */
export const publishDraft = (draftPath: string, path: string): boolean => {
  try {
    linkSync(draftPath, path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw thrown;
  } finally {
    rmSync(draftPath, { force: true });
  }
  syncFolder(dirname(path));
  return true;
};

/** Replaces a file that its owner alone may read: what was there before, or this, is there after a power cut. */
export const replaceFile = (path: string, content: string | Uint8Array): void => {
  const draft = `${path}.new`;
  mkdirSync(dirname(path), { recursive: true });
  try {
    const fd = openSync(draft, 'w', 0o600);
    try {
      writeFileSync(fd, content);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, path);
    syncFolder(dirname(path));
  } catch (fault) {
    rmSync(draft, { force: true });
    throw fault;
  }
};
