import type { FileHandle } from 'node:fs/promises';
import { messageOf } from '../base/errors.js';
import {
  MAX_DESCRIPTION_BYTES,
  type ModelDescription,
  parseDescription,
} from '../objects/model-description.js';

/** A model of the directory, and what is known of it before it runs. */
export type ListedModel = {
  readonly filename: string;
  readonly sizeBytes: number;
  /** Null: nothing stands beside it. */
  readonly description: ModelDescription | null;
  /** Why what stands beside it can't be used; "" where it can. */
  readonly problem: string;
};

/** Reads what stands beside a model; closes the file. */
export const describedIn = async (
  file: FileHandle,
  sizeBytes: number,
): Promise<Pick<ListedModel, 'description' | 'problem'>> => {
  try {
    if (sizeBytes > MAX_DESCRIPTION_BYTES) throw new Error('the description beside the model is too large');
    return { description: parseDescription(await file.readFile('utf8')), problem: '' };
  } catch (fault) {
    return { description: null, problem: messageOf(fault) };
  } finally {
    await file.close();
  }
};
