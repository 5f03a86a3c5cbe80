import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { MAX_INPUT_BYTES } from './mutate.js';

/** Whoever takes longer than this for one input, or this much memory for all, has lost. */
const HANG_MS = 20_000;
const LOOK_EVERY_MS = 1_000;
const MAX_HEAP_MB = 512;

export type FuzzOptions = {
  /** The module with the targets, and which of them. */
  readonly module: string;
  readonly name: string;
  readonly seed: number;
  readonly milliseconds: number;
  /** A folder: what leads somewhere is kept there, and what was kept is begun with. "": none. */
  readonly corpus: string;
};

export type FuzzResult = {
  readonly runs: number;
  /** Stretches of code that were reached. */
  readonly places: number;
  readonly inputs: number;
  readonly found: { readonly input: Buffer; readonly fault: string } | null;
};

/** What the thread and whoever watches it share: how many inputs it was given, how long the last one is, and it. */
export const INPUTS = 0;
export const LENGTH = 1;
export const HEAD_BYTES = 8;

export type ThreadData = Omit<FuzzOptions, 'corpus'> & {
  readonly shared: SharedArrayBuffer;
  readonly kept: readonly Uint8Array[];
};

/** Told at the end, and each input that is worth keeping as it comes. */
export type Told =
  | { readonly kept: Uint8Array }
  | {
      readonly runs: number;
      readonly places: number;
      readonly inputs: number;
      readonly found: { input: Uint8Array; fault: string } | null;
    };

const fileOf = (input: Uint8Array): string => createHash('sha256').update(input).digest('hex').slice(0, 24);

const readKept = (folder: string): Buffer[] =>
  folder === '' ? [] : readdirSync(folder).map((name) => readFileSync(join(folder, name)));

/** Fuzzes one target in a thread of its own, which may hang or run out of memory. */
export const fuzz = async ({ corpus, ...options }: FuzzOptions): Promise<FuzzResult> => {
  const folder = corpus === '' ? '' : join(corpus, options.name);
  if (folder !== '') mkdirSync(folder, { recursive: true });
  const shared = new SharedArrayBuffer(HEAD_BYTES + MAX_INPUT_BYTES);
  const head = new Int32Array(shared, 0, 2);
  const workerData: ThreadData = { ...options, shared, kept: readKept(folder) };
  const worker = new Worker(new URL('./fuzz-thread.js', import.meta.url), {
    workerData,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  const lastInput = (): Buffer =>
    Buffer.from(Buffer.from(shared, HEAD_BYTES, Math.max(0, Atomics.load(head, LENGTH))));
  const lost = (fault: string): FuzzResult => ({
    runs: Atomics.load(head, INPUTS),
    places: 0,
    inputs: 0,
    found: { input: lastInput(), fault },
  });
  return await new Promise((resolve) => {
    let [seen, sinceMs] = [0, performance.now()];
    const look = setInterval(() => {
      const now = Atomics.load(head, INPUTS);
      // Until the first input the thread is being started.
      if (now !== seen || now === 0) [seen, sinceMs] = [now, performance.now()];
      else if (performance.now() - sinceMs > HANG_MS) end(lost(`hangs for over ${HANG_MS} ms`));
    }, LOOK_EVERY_MS);
    const end = (result: FuzzResult): void => {
      clearInterval(look);
      void worker.terminate().then(() => resolve(result));
    };
    worker.on('message', (told: Told) => {
      if ('kept' in told) {
        if (folder !== '') writeFileSync(join(folder, fileOf(told.kept)), told.kept);
        return;
      }
      const { found } = told;
      end({ ...told, found: found === null ? null : { ...found, input: Buffer.from(found.input) } });
    });
    worker.on('error', (fault) => end(lost(`ends the thread: ${fault.stack ?? fault.message}`)));
  });
};
