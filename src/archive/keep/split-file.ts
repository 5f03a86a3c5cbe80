import { closeSync, fsyncSync, openSync, readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { syncFolder, writeAt } from '../../base/durable-file.js';
import { PartTable } from '../../fmp4/part-table.js';
import { buildMfra } from '../../fmp4/random-access.js';
import { type StartReason, withStartReason } from '../../fmp4/start-reason.js';
import { type ByteSource, readUpTo } from '../files/regular-file.js';
import { FILE_MODE, padToBlock } from '../write/block-file.js';
import { BLOCK_BYTES } from '../write/direct-disk.js';
import type { Stretch, Survey } from './survey-file.js';

const COPY_BYTES = 1 << 20;

/** Makes boxes of what isn't any: `free` ones (ISO 14496-12 §8.1.2), whatever is in them. */
export const freeWaste = (fd: number, { waste }: Pick<Stretch, 'waste'>, shiftBytes: number): void => {
  for (const { startBytes, endBytes } of waste) {
    const head = Buffer.from('\0\0\0\0free', 'latin1');
    head.writeUInt32BE(endBytes - startBytes);
    writeAt(fd, head, startBytes + shiftBytes);
  }
};

const copyRange = (
  from: ByteSource,
  startBytes: number,
  endBytes: number,
  to: number,
  position: number,
): void => {
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  for (let at = startBytes; at < endBytes; at += COPY_BYTES) {
    const bytes = readUpTo(from, buffer.subarray(0, Math.min(COPY_BYTES, endBytes - at)), at);
    writeAt(to, bytes, position + at - startBytes);
  }
};

/** What of a file all its pieces have. */
export type Whole = Pick<Survey, 'headBytes' | 'videoTrackId'> & { readonly fd: ByteSource };

/** Writes a stretch as a file of its own; it is whole and synced then. `reason`: why it begins; null: as the file says. */
export const writePiece = (
  path: string,
  { fd, headBytes, videoTrackId }: Whole,
  stretch: Pick<Stretch, 'startBytes' | 'endBytes' | 'parts' | 'waste'>,
  reason: StartReason | null,
): void => {
  const told = readUpTo(fd, Buffer.alloc(headBytes), 0);
  const head = reason === null ? told : withStartReason(told, reason);
  const stage = Buffer.concat([head, Buffer.alloc(2 * BLOCK_BYTES)]);
  const positionBytes = padToBlock(stage, head.length);
  const shiftBytes = positionBytes - stretch.startBytes;
  const parts = new PartTable();
  for (let part = 0; part < stretch.parts.count; part += 1) {
    parts.add(stretch.parts.timeTicks[part]!, stretch.parts.moofOffset[part]! + shiftBytes);
  }
  const target = openSync(path, 'wx', FILE_MODE);
  try {
    writeAt(target, stage.subarray(0, positionBytes), 0);
    copyRange(fd, stretch.startBytes, stretch.endBytes, target, positionBytes);
    freeWaste(target, stretch, shiftBytes);
    writeAt(target, buildMfra(videoTrackId, parts), stretch.endBytes + shiftBytes);
    fsyncSync(target);
  } finally {
    closeSync(target);
  }
};

/** The pieces of a file that was damaged, before they have names of their own. */
export const piecesOf = (folder: string, fileName: string): string[] => {
  const prefix = `${fileName}.piece-`;
  const numberOf = (name: string): number => Number(name.slice(prefix.length));
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix))
    .sort((a, b) => numberOf(a) - numberOf(b));
};

const removePieces = (folder: string, fileName: string): void => {
  for (const name of piecesOf(folder, fileName)) unlinkSync(join(folder, name));
};

/**
 * Copies what is whole behind a file's holes into files of its own. They last before anything of the file itself is
 * changed; one that still has holes was not come that far with, so that its pieces of the last time aren't to be used.
 */
export const splitFile = (folder: string, fileName: string, fd: number, survey: Survey): void => {
  const [, ...more] = survey.stretches;
  if (more.length === 0) return;
  removePieces(folder, fileName);
  try {
    for (const [at, stretch] of more.entries()) {
      writePiece(join(folder, `${fileName}.piece-${at + 1}`), { ...survey, fd }, stretch, 'disk');
    }
  } catch (fault) {
    // They would only take room until it is tried again.
    removePieces(folder, fileName);
    throw fault;
  }
  syncFolder(folder);
};
