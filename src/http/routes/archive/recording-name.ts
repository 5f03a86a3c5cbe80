import { z } from 'zod';
import { parseRecordingName } from '../../../archive/files/file-name.js';
import { isBoxName } from '../../../base/box-name.js';
import { AppError } from '../../../base/errors.js';

/** The archive knows which names are its own; this bounds what is looked at. */
export const fileSchema = z.string().max(255).meta({ description: 'the name of a recording' });
export const boxSchema = z.string().max(63).refine(isBoxName, 'must be the name of a box').meta({
  description:
    'the box that made it, as in the list of recordings; without it, of several of that name the one that counts is meant',
});
export const seqSchema = z.string().max(64).meta({ pattern: '^[0-9]{1,9}$' });

/** A playlist has a line for each keyframe, a clip a table entry for each frame. */
export const MAX_PLAYED_DAYS = 1;

/** Nothing but names of our own making ever gets near a path. */
export const checkedName = (fileName: string): string => {
  if (parseRecordingName(fileName) === null)
    throw new AppError('bad_file_name', 'the file must be named as in the list of recordings');
  return fileName;
};

/** A recording by its name and, where several boxes have one of it, by the box that made it. */
export type NamedFile = { readonly fileName: string; readonly box?: string };

export const fileQuery = z.object({ file: fileSchema, box: boxSchema.optional() });

export const namedFile = ({ file, box }: { file: string; box?: string | undefined }): NamedFile => ({
  fileName: checkedName(file),
  ...(box === undefined ? {} : { box }),
});

/** The number of a part; `name` is what the query calls it. */
export const seqOf = (name: string, text: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new AppError('bad_seq', `${name} must be a whole number, 0 or more`);
  return Number(text);
};
