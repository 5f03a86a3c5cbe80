import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, messageOf } from '../../base/errors.js';
import { isS3Error, s3Error } from '../../s3/errors.js';
import type { S3Client } from '../../s3/s3-client.js';
import { readUpTo } from '../files/regular-file.js';
import { markOf } from './copy.js';
import type { Outbox } from './outbox.js';
import type { Sending } from './stored-outbox.js';

/** The store has another object of this name. */
export const TAKEN = 'taken';

export type SendingDeps = {
  readonly client: Pick<
    S3Client,
    'put' | 'head' | 'createUpload' | 'uploadPart' | 'listParts' | 'completeUpload'
  >;
  readonly pace: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly outbox: Outbox;
  /** The store has taken some of a file. */
  readonly onSent: () => void;
  /** Of one part; S3 wants 5 MB at least, and knows 10 000 of them. */
  readonly partBytes: number;
};

/** A file that is open, and doesn't change. */
export type SentFile = {
  readonly fd: number;
  readonly sizeBytes: number;
  /** What makes it this very file. */
  readonly source: string;
};

type PutOptions = { readonly mayReplace: boolean; readonly signal: AbortSignal };

/** An upload that is gone on with: ETags that were heard of, and those that the store tells. */
type Begun = {
  readonly uploadId: string;
  readonly sent: Readonly<Record<string, string>>;
  readonly there: ReadonlyMap<number, string>;
};

const LANES = 2;
/** Files of which some may be there. */
const MOST_BEGUN = 1_000;
/** What arrived otherwise is sent again at once. */
const MOST_DAMAGED = 3;

/** What an object says of the file that it was made of. */
export const sourceDigest = (source: string): string =>
  createHash('sha256').update(source).digest('hex').slice(0, 32);

/** What a disk doesn't give; else nothing of that is known here. */
const CUT = 'file_unreadable';
const isCut = (fault: unknown): boolean => fault instanceof AppError && fault.code === CUT;

/** Null: there is less. */
const readFully = (fd: number, into: Buffer, offset: number): Buffer | null => {
  try {
    const bytes = readUpTo(fd, into, offset);
    return bytes.length < into.length ? null : bytes;
  } catch (cause) {
    throw new AppError(CUT, `the file can't be read: ${messageOf(cause)}`, { cause });
  }
};

const md5 = (bytes: Uint8Array): Buffer => createHash('md5').update(bytes).digest();

/** Puts files into the store: whole, or in parts, two on their way, and on from those that are there already. */
export class FileSender {
  readonly #deps: SendingDeps;
  /** One a lane, for as long as anything is sent. */
  readonly #buffers: Buffer[] = [];

  constructor(deps: SendingDeps) {
    this.#deps = deps;
  }

  /**
   * Its ETag; or that another object has the name. Nothing is sent where it is there already. `mark`: of the object that was there
   * when it was looked at (see `markOf`); null: nobody knows.
   */
  async send(
    object: string,
    file: SentFile,
    signal: AbortSignal,
    mark: number | null = null,
  ): Promise<string> {
    const { outbox } = this.#deps;
    const found = await this.#find(object, file, mark, signal);
    if (found === TAKEN) return TAKEN;
    this.#begin(object, file);
    if (found !== null) {
      // It may be of the same bytes by other times.
      this.#note(object, { mark: markOf(found) });
      return found;
    }
    try {
      return await this.#put(object, file, { mayReplace: false, signal });
    } catch (fault) {
      // Nothing of it is there.
      if (isS3Error(fault, 's3_refused') || isS3Error(fault, 's3_damaged') || isCut(fault)) {
        outbox.abandon(object);
        outbox.remove(object);
      }
      if (!isS3Error(fault, 's3_taken')) throw fault;
      const now = await this.#find(object, file, null, signal);
      if (now === null) throw s3Error('s3_refused', 'the store says that it has an object, and has none');
      outbox.abandon(object);
      // It was free when it was looked at: what is there now is somebody else's.
      if (now === TAKEN) outbox.remove(object);
      else this.#note(object, { mark: markOf(now) });
      return now;
    }
  }

  /** What goes beside an object, and replaces what is there. */
  async sendBeside(object: string, file: SentFile, signal: AbortSignal): Promise<void> {
    this.#begin(object, file);
    await this.#put(object, file, { mayReplace: true, signal });
    this.#deps.outbox.remove(object);
  }

  /** Nothing is to be sent for a while. */
  rest(): void {
    this.#buffers.length = 0;
  }

  #put(object: string, file: SentFile, options: PutOptions): Promise<string> {
    const isSmall = file.sizeBytes <= this.#deps.partBytes;
    return isSmall ? this.#whole(object, file, options) : this.#inParts(object, file, options);
  }

  /** Written down before the first of it is sent: whatever becomes of us, it is known that it may be there. */
  #begin(object: string, { source }: SentFile): void {
    const { outbox } = this.#deps;
    const known = outbox.of(object);
    if (known?.source === source) return;
    if (outbox.sendings.length >= MOST_BEGUN) throw new Error('too much was begun that is not there yet');
    outbox.abandon(object);
    outbox.set({ object, source, uploadId: null, parts: {}, mark: null, isUnwanted: false });
  }

  async #whole(
    object: string,
    { fd, sizeBytes, source: of }: SentFile,
    { mayReplace, signal }: PutOptions,
  ): Promise<string> {
    const { client, pace } = this.#deps;
    const bytes = this.#read(0, fd, 0, sizeBytes);
    const source = sourceDigest(of);
    return this.#again(() => client.put(object, { bytes, pace }, { mayReplace, source, signal }));
  }

  async #inParts(object: string, file: SentFile, { mayReplace, signal }: PutOptions): Promise<string> {
    const { client, outbox, partBytes } = this.#deps;
    const known = await this.#goOn(object, signal);
    const source = sourceDigest(file.source);
    const uploadId = known?.uploadId ?? (await client.createUpload(object, { source, signal }));
    if (known === null) this.#note(object, { uploadId, parts: {} });
    const count = Math.ceil(file.sizeBytes / partBytes);
    const etags: string[] = [];
    let next = 0;
    // A lane that fails ends the other, too: none is left behind that writes into its buffer.
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    const sendPart = async (at: number, lane: number): Promise<string> => {
      const bytes = this.#part(lane, at, file);
      const body = { bytes, pace: this.#deps.pace };
      const etag = await this.#again(() => client.uploadPart(object, uploadId, at + 1, body, ending.signal));
      this.#note(object, { parts: { ...outbox.of(object)?.parts, [at + 1]: etag } });
      return etag;
    };
    const lane = async (number: number): Promise<void> => {
      while (next < count && !ending.signal.aborted) {
        const at = next++;
        etags[at] = (await this.#knownPart(known, at, number, file)) ?? (await sendPart(at, number));
        // What is known needs no network: messages are to be heard in between all the same.
        await nextTurn();
      }
    };
    try {
      const lanes = Array.from({ length: LANES }, (_, number) =>
        lane(number).catch((fault) => {
          ending.abort(fault);
          throw fault;
        }),
      );
      const failed = (await Promise.allSettled(lanes)).find(({ status }) => status === 'rejected');
      if (failed !== undefined || ending.signal.aborted) throw ending.signal.reason;
    } catch (fault) {
      // The store forgot what was begun.
      if (isS3Error(fault, 's3_not_found')) this.#note(object, { uploadId: null, parts: {} });
      throw fault;
    } finally {
      signal.removeEventListener('abort', end);
    }
    const parts = etags.map((etag, at) => ({ number: at + 1, etag }));
    try {
      const etag = await client.completeUpload(object, uploadId, parts, { mayReplace, signal });
      this.#note(object, { uploadId: null, parts: {} });
      return etag;
    } catch (fault) {
      // The answer to an earlier attempt may have been lost.
      if (isS3Error(fault, 's3_not_found')) this.#note(object, { uploadId: null, parts: {} });
      throw fault;
    }
  }

  #note(object: string, change: Partial<Sending>): void {
    const { outbox } = this.#deps;
    const one = outbox.of(object);
    if (one !== null) outbox.set({ ...one, ...change });
  }

  /** What is there of it already, by the numbers of its parts; null: nothing is. */
  async #goOn(object: string, signal: AbortSignal): Promise<Begun | null> {
    const { client, outbox } = this.#deps;
    const { uploadId = null, parts = {} } = outbox.of(object) ?? {};
    if (uploadId === null) return null;
    try {
      const there = await client.listParts(object, uploadId, signal);
      return { uploadId, sent: parts, there: new Map(there.map(({ number, etag }) => [number, etag])) };
    } catch (fault) {
      if (!isS3Error(fault, 's3_not_found')) throw fault;
      this.#note(object, { uploadId: null, parts: {} });
      return null;
    }
  }

  /** The ETag of a part that is there; null: it is to be sent. Of one whose answer was lost the MD5 may tell. */
  async #knownPart(known: Begun | null, at: number, lane: number, file: SentFile): Promise<string | null> {
    const there = known?.there.get(at + 1);
    if (known === null || there === undefined) return null;
    if (known.sent[at + 1] === there) return there;
    return there === md5(this.#part(lane, at, file)).toString('hex') ? there : null;
  }

  /** The ETag of the object of this name if it is this very file, put there by whoever didn't hear of it; null: there is none. */
  async #find(
    object: string,
    file: SentFile,
    mark: number | null,
    signal: AbortSignal,
  ): Promise<string | null> {
    const { client, partBytes } = this.#deps;
    const there = await client.head(object, signal);
    if (there === null) return null;
    if (there.bytes !== file.sizeBytes) return TAKEN;
    // One that is otherwise than it was isn't that file any more, whatever it says.
    const isAsItWas = mark === null || markOf(there.etag) === mark;
    if (isAsItWas && there.source === sourceDigest(file.source)) return there.etag;
    const digests: Buffer[] = [];
    for (let at = 0; at === 0 || at * partBytes < file.sizeBytes; at += 1) {
      digests.push(md5(this.#part(0, at, file)));
      await nextTurn(undefined, { signal });
    }
    const own =
      digests.length === 1
        ? digests[0]!.toString('hex')
        : `${md5(Buffer.concat(digests)).toString('hex')}-${digests.length}`;
    return there.etag === own ? own : TAKEN;
  }

  async #again(attempt: () => Promise<string>): Promise<string> {
    for (let tries = 1; ; tries += 1) {
      try {
        const etag = await attempt();
        this.#deps.onSent();
        return etag;
      } catch (fault) {
        if (!isS3Error(fault, 's3_damaged') || tries >= MOST_DAMAGED) throw fault;
      }
    }
  }

  #part(lane: number, at: number, { fd, sizeBytes }: SentFile): Buffer {
    const { partBytes } = this.#deps;
    return this.#read(lane, fd, at * partBytes, Math.min(partBytes, sizeBytes - at * partBytes));
  }

  #read(lane: number, fd: number, offset: number, lengthBytes: number): Buffer {
    this.#buffers[lane] ??= Buffer.allocUnsafeSlow(this.#deps.partBytes);
    const bytes = readFully(fd, this.#buffers[lane]!.subarray(0, lengthBytes), offset);
    if (bytes === null) throw new AppError(CUT, 'the file was cut');
    return bytes;
  }
}
