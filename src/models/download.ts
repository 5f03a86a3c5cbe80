import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readdir, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { AppError, messageOf } from '../base/errors.js';
import type { ModelErrorCode } from './errors.js';
import { type OriginFile, originFailed, originFault } from './origin.js';

/** The names of files in the making; a model's own name never begins with a dot. */
const partName = /^\.[A-Za-z0-9._-]+\.[0-9a-f]{12}\.part$/;

/** Removes what a crash left behind. */
export const removeLeftovers = async (directory: string): Promise<number> => {
  const leftovers = (await readdir(directory)).filter((name) => partName.test(name));
  for (const name of leftovers) await unlink(join(directory, name));
  return leftovers.length;
};

const onDisk = async <Result>(work: Promise<Result>): Promise<Result> => {
  try {
    return await work;
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? messageOf(cause);
    throw new AppError<ModelErrorCode>('model_storage_failed', `the model can't be stored: ${reason}`, {
      cause,
    });
  }
};

/** Copies all bytes; throws if they are not as many as were announced, or too many. */
const copyBytes = async (
  source: OriginFile,
  file: FileHandle,
  maxBytes: number,
  signal: AbortSignal,
): Promise<number> => {
  const { bytes, sizeBytes } = source;
  addAbortSignal(signal, bytes);
  if ((sizeBytes ?? 0) > maxBytes) {
    bytes.destroy();
    throw originFailed(`a file of more than ${maxBytes} bytes`);
  }
  let receivedBytes = 0;
  try {
    for await (const piece of bytes as AsyncIterable<Buffer>) {
      receivedBytes += piece.length;
      if (receivedBytes > maxBytes) throw originFailed(`a file of more than ${maxBytes} bytes`);
      await onDisk(file.appendFile(piece));
    }
  } catch (fault) {
    if (fault instanceof AppError) throw fault;
    throw originFault(signal.aborted ? signal.reason : fault);
  }
  if (receivedBytes === 0) throw originFailed('an empty file');
  if (sizeBytes !== null && sizeBytes !== receivedBytes) throw originFailed('the transfer was cut');
  await source.confirm();
  return receivedBytes;
};

const syncDirectory = async (directory: string): Promise<void> => {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/**
 * Stores a file of the origin under its name, whole or not at all: written under another name, synced, then
 * renamed. Returns its size.
 */
export const storeModel = async (
  source: OriginFile,
  target: { readonly directory: string; readonly filename: string },
  limits: { readonly maxBytes: number },
  signal: AbortSignal,
): Promise<number> => {
  const part = join(target.directory, `.${target.filename}.${randomBytes(6).toString('hex')}.part`);
  const file = await onDisk(open(part, 'wx', 0o644)).catch((fault) => {
    source.bytes.destroy();
    throw fault;
  });
  try {
    const sizeBytes = await copyBytes(source, file, limits.maxBytes, signal);
    await onDisk(file.sync());
    await onDisk(rename(part, join(target.directory, target.filename)));
    await onDisk(syncDirectory(target.directory));
    return sizeBytes;
  } catch (fault) {
    await unlink(part).catch(() => {});
    throw fault;
  } finally {
    await file.close();
  }
};
