import { AppError } from '../../src/base/errors.js';

/** One parser that outside bytes reach. */
export type Target = {
  /** Inputs that it makes sense of: what is tried is made of them. */
  readonly seeds: readonly (string | Uint8Array)[];
  /** Words of its language. */
  readonly words?: readonly (string | Uint8Array)[];
  /** Throws where the parser does what it must never do. Keeps nothing from one input for the next. */
  readonly run: (input: Buffer) => void;
};

/** Inputs may be refused, by errors of the house; whatever else is thrown is a defect. */
export const orRefused = <T>(read: () => T): T | null => {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof AppError) return null;
    throw thrown;
  }
};

/** The pieces of an input, each behind two bytes of its length; the last one may be shorter. */
export const pieces = (input: Buffer): Buffer[] => {
  const found: Buffer[] = [];
  for (let at = 0; at + 2 <= input.length; ) {
    const end = Math.min(at + 2 + input.readUInt16BE(at), input.length);
    found.push(input.subarray(at + 2, end));
    at = end;
  }
  return found;
};

/** What `pieces` reads. */
export const joined = (parts: readonly Uint8Array[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(part.length);
      return [length, part];
    }),
  );
