import { createHash } from 'node:crypto';
import { isS3Error } from '../../s3/errors.js';
import type { S3Client } from '../../s3/s3-client.js';
import { readUpTo } from '../files/regular-file.js';
import type { Unfinished } from './unfinished.js';

/** The store has another object of this name. */
export const TAKEN = 'taken';

export type SendingDeps = {
  readonly client: Pick<
    S3Client,
    'put' | 'head' | 'createUpload' | 'uploadPart' | 'listParts' | 'completeUpload' | 'abortUpload'
  >;
  readonly pace: (bytes: number, signal: AbortSignal) => Promise<void>;
  readonly unfinished: Unfinished;
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

const LANES = 2;
/** What arrived otherwise is sent again at once. */
const MOST_DAMAGED = 3;

const md5 = (bytes: Uint8Array): Buffer => createHash('md5').update(bytes).digest();

/** Puts files into the store: whole, or in parts, two on their way, and on from those that are there already. */
export class FileSender {
  readonly #deps: SendingDeps;
  /** One a lane, for as long as anything is sent. */
  readonly #buffers: Buffer[] = [];

  constructor(deps: SendingDeps) {
    this.#deps = deps;
  }

  /** Its ETag; or that another object has the name. */
  async send(
    object: string,
    file: SentFile,
    options: { readonly mayReplace: boolean; readonly signal: AbortSignal },
  ): Promise<string> {
    try {
      return file.sizeBytes <= this.#deps.partBytes
        ? await this.#whole(object, file, options)
        : await this.#inParts(object, file, options);
    } catch (fault) {
      if (!isS3Error(fault, 's3_taken')) throw fault;
      return (await this.#isThere(object, file, options.signal)) ?? TAKEN;
    }
  }

  /** Gives up what was begun of another file. */
  async abandon(signal: AbortSignal): Promise<void> {
    const { client, unfinished } = this.#deps;
    const { current } = unfinished;
    if (current === null) return;
    await client.abortUpload(current.object, current.uploadId, signal);
    unfinished.set(null);
  }

  /** Nothing is to be sent for a while. */
  rest(): void {
    this.#buffers.length = 0;
  }

  async #whole(
    object: string,
    { fd, sizeBytes }: SentFile,
    { mayReplace, signal }: { readonly mayReplace: boolean; readonly signal: AbortSignal },
  ): Promise<string> {
    const { client, pace } = this.#deps;
    const bytes = this.#read(0, fd, 0, sizeBytes);
    return this.#again(() => client.put(object, { bytes, pace }, { mayReplace, signal }));
  }

  async #inParts(
    object: string,
    file: SentFile,
    { mayReplace, signal }: { readonly mayReplace: boolean; readonly signal: AbortSignal },
  ): Promise<string> {
    const { client, unfinished, partBytes } = this.#deps;
    const known = await this.#goOn(object, file, signal);
    const uploadId = known?.uploadId ?? (await client.createUpload(object, signal));
    if (known === null) unfinished.set({ object, uploadId, source: file.source });
    const count = Math.ceil(file.sizeBytes / partBytes);
    const etags: string[] = [];
    let next = 0;
    // A lane that fails ends the other, too: none is left behind that writes into its buffer.
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end);
    const lane = async (number: number): Promise<void> => {
      while (next < count && !ending.signal.aborted) {
        const at = next++;
        const lengthBytes = Math.min(partBytes, file.sizeBytes - at * partBytes);
        const bytes = this.#read(number, file.fd, at * partBytes, lengthBytes);
        const there = known?.parts.get(at + 1);
        etags[at] =
          there === md5(bytes).toString('hex')
            ? there
            : await this.#again(() =>
                client.uploadPart(object, uploadId, at + 1, { bytes, pace: this.#deps.pace }, ending.signal),
              );
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
      if (isS3Error(fault, 's3_not_found')) unfinished.set(null);
      throw fault;
    } finally {
      signal.removeEventListener('abort', end);
    }
    const parts = etags.map((etag, at) => ({ number: at + 1, etag }));
    try {
      const etag = await client.completeUpload(object, uploadId, parts, { mayReplace, signal });
      unfinished.set(null);
      return etag;
    } catch (fault) {
      // The answer to an earlier attempt may have been lost.
      if (isS3Error(fault, 's3_not_found')) unfinished.set(null);
      if (isS3Error(fault, 's3_taken')) await this.abandon(signal);
      throw fault;
    }
  }

  /** What is there of it already, by the numbers of its parts; null: nothing is. */
  async #goOn(
    object: string,
    { source }: SentFile,
    signal: AbortSignal,
  ): Promise<{ readonly uploadId: string; readonly parts: ReadonlyMap<number, string> } | null> {
    const { client, unfinished } = this.#deps;
    const { current } = unfinished;
    if (current === null) return null;
    if (current.object !== object || current.source !== source) {
      await this.abandon(signal);
      return null;
    }
    try {
      const parts = await client.listParts(object, current.uploadId, signal);
      return { uploadId: current.uploadId, parts: new Map(parts.map(({ number, etag }) => [number, etag])) };
    } catch (fault) {
      if (!isS3Error(fault, 's3_not_found')) throw fault;
      unfinished.set(null);
      return null;
    }
  }

  /** Whether the object of this name is this very file, put there by a run that didn't hear of it; its ETag. */
  async #isThere(object: string, file: SentFile, signal: AbortSignal): Promise<string | null> {
    const { client, partBytes } = this.#deps;
    const there = await client.head(object, signal);
    if (there?.bytes !== file.sizeBytes) return null;
    const digests: Buffer[] = [];
    for (let at = 0; at === 0 || at < file.sizeBytes; at += partBytes)
      digests.push(md5(this.#read(0, file.fd, at, Math.min(partBytes, file.sizeBytes - at))));
    const own =
      digests.length === 1
        ? digests[0]!.toString('hex')
        : `${md5(Buffer.concat(digests)).toString('hex')}-${digests.length}`;
    return there.etag === own ? own : null;
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

  #read(lane: number, fd: number, offset: number, lengthBytes: number): Buffer {
    this.#buffers[lane] ??= Buffer.allocUnsafeSlow(this.#deps.partBytes);
    const bytes = readUpTo(fd, this.#buffers[lane]!.subarray(0, lengthBytes), offset);
    if (bytes.length < lengthBytes) throw new Error('the file was cut');
    return bytes;
  }
}
