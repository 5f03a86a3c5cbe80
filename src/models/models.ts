import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock, MonotonicMs } from '../base/clock.js';
import { startDeadline } from '../base/deadline.js';
import { AppError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { ModelCache } from './cache.js';
import { removeLeftovers, storeModel } from './download.js';
import type { ModelErrorCode } from './errors.js';
import { describedIn, type ListedModel } from './list.js';
import { openOrigin, originFault, originUrl } from './origin.js';

export type ModelLimits = {
  readonly maxBytes: number;
  /** Of all that were fetched together; beyond it those used longest ago go. */
  readonly maxCacheBytes: number;
  readonly idleTimeoutMs: number;
  readonly totalTimeoutMs: number;
  /** For this long a failed fetch is the answer, before the origin is asked again. */
  readonly failureKeptMs: number;
};

const defaultLimits: ModelLimits = {
  maxBytes: 2_147_483_648,
  maxCacheBytes: 4_294_967_296,
  idleTimeoutMs: 20_000,
  totalTimeoutMs: 3_600_000,
  failureKeptMs: 3_000,
};

/** Anybody may ask for any name: these bound what that costs the origin and us. */
const MAX_FETCHES = 8;
const MAX_FAILURES_KEPT = 1_000;
const MAX_LISTED = 1_000;

/** No leading dot: such names are ours. Room for the additions of a temporary name in the 255 of file systems. */
const modelName = /^(?!\.)[A-Za-z0-9._-]{1,200}\.onnx$/;
/** What somebody put beside a model says of it what can't be seen. */
const descriptionName = /^(?!\.)([A-Za-z0-9._-]{1,200})\.json$/;

/** A cached model, open for reading; whoever gets it closes the file. */
export type OpenModel = {
  readonly file: FileHandle;
  readonly sizeBytes: number;
  /** Strong: another one whenever the file is replaced. */
  readonly etag: string;
};

const storageFailed = (cause: unknown): AppError<ModelErrorCode> => {
  const reason = (cause as NodeJS.ErrnoException).code ?? messageOf(cause);
  return new AppError('model_storage_failed', `the model can't be read: ${reason}`, { cause });
};

const isMissing = (fault: unknown): boolean => (fault as NodeJS.ErrnoException).code === 'ENOENT';

/**
 * The model files: those in the directory, and those that the origin has, fetched on first demand. All who ask for
 * a file while it is fetched wait for the one transfer, which goes on even if they go away: the next one wants it
 * too.
 */
export class Models {
  readonly #directory: string;
  readonly #origin: URL | null;
  readonly #cache: ModelCache;
  readonly #limits: ModelLimits;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #fetches = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, { readonly fault: unknown; readonly atMs: MonotonicMs }>();
  readonly #stopping = new AbortController();

  constructor(
    options: {
      readonly directory: string;
      readonly origin: URL | null;
      readonly limits?: Partial<ModelLimits>;
    },
    deps: { readonly clock: Clock; readonly log: Logger },
  ) {
    this.#directory = options.directory;
    this.#origin = options.origin;
    this.#limits = { ...defaultLimits, ...options.limits };
    this.#cache = new ModelCache(options.directory, this.#limits.maxCacheBytes, deps.clock);
    this.#clock = deps.clock;
    this.#log = deps.log;
  }

  /** Makes the directory and removes what a crash left in it. Without one, only models are out of service. */
  async start(): Promise<void> {
    try {
      await mkdir(this.#directory, { recursive: true });
      const removed = await removeLeftovers(this.#directory);
      if (removed > 0) this.#log.info('unfinished model files removed', { files: removed });
      await this.#trim(null);
    } catch (fault) {
      this.#log.error("the models directory can't be used", { reason: messageOf(fault) });
    }
  }

  /** Ends all transfers. */
  async stop(): Promise<void> {
    this.#stopping.abort(new Error('the service stops'));
    await Promise.allSettled(this.#fetches.values());
  }

  /** The path of a whole model file, fetched if need be. Throws an AppError with a ModelErrorCode. */
  async path(filename: string): Promise<string> {
    const { file } = await this.open(filename);
    await file.close();
    return join(this.#directory, filename);
  }

  /** Opens a whole model file, fetched if need be. Throws an AppError with a ModelErrorCode. */
  async open(filename: string): Promise<OpenModel> {
    if (!modelName.test(filename)) {
      throw new AppError<ModelErrorCode>(
        'model_name_invalid',
        'a model name is made of letters, digits, ".", "_" and "-", and ends in .onnx',
      );
    }
    const cached = await this.#openCached(filename);
    if (cached !== null) {
      this.#cache.noteUse(filename);
      return cached;
    }
    await this.#fetchOnce(filename);
    const fetched = await this.#openCached(filename);
    if (fetched === null) throw storageFailed(new Error('removed as soon as it was stored'));
    return fetched;
  }

  /**
   * The models of the directory, by name: 1,000 at most. What the origin has isn't known before somebody asks for it.
   * Throws an AppError with a ModelErrorCode.
   */
  async list(): Promise<ListedModel[]> {
    const names = await readdir(this.#directory).catch((fault: unknown) => {
      throw storageFailed(fault);
    });
    const listed: ListedModel[] = [];
    for (const filename of names.filter((name) => modelName.test(name)).sort()) {
      if (listed.length === MAX_LISTED) break;
      // One that can't be read, or went away meanwhile, is none for whoever asks.
      const model = await this.#openCached(filename).catch(() => null);
      if (model === null) continue;
      await model.file.close();
      const beside = await this.#openCached(filename.replace(/onnx$/, 'json')).catch(() => null);
      const described =
        beside === null
          ? { description: null, problem: '' }
          : await describedIn(beside.file, beside.sizeBytes);
      listed.push({ filename, sizeBytes: model.sizeBytes, ...described });
    }
    return listed;
  }

  /** Opens what stands beside a model of the directory; it is never fetched. Throws an AppError with a ModelErrorCode. */
  async openDescription(filename: string): Promise<OpenModel> {
    const [, name] = descriptionName.exec(filename) ?? [];
    // Another file of that directory is nobody's business.
    const model = name === undefined ? null : await this.#openCached(`${name}.onnx`);
    await model?.file.close();
    const description = model === null ? null : await this.#openCached(filename);
    if (description === null)
      throw new AppError<ModelErrorCode>('model_not_found', 'no such model of this directory is described');
    return description;
  }

  async #openCached(filename: string): Promise<OpenModel | null> {
    let file: FileHandle;
    try {
      file = await open(join(this.#directory, filename), constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (fault) {
      if (isMissing(fault)) return null;
      throw storageFailed(fault);
    }
    // All facts come from the open file: a replacement in this moment can't mix two of them.
    const { size, ino, mtimeNs, isFile } = await file.stat({ bigint: true }).then((stats) => ({
      size: stats.size,
      ino: stats.ino,
      mtimeNs: stats.mtimeNs,
      isFile: stats.isFile() && stats.size > 0n,
    }));
    if (isFile) {
      const etag = `"${[ino, size, mtimeNs].map((part) => part.toString(36)).join('-')}"`;
      return { file, sizeBytes: Number(size), etag };
    }
    await file.close();
    throw new AppError<ModelErrorCode>('model_not_found', 'there is no such model file');
  }

  #fetchOnce(filename: string): Promise<void> {
    const running = this.#fetches.get(filename);
    if (running !== undefined) return running;
    const failure = this.#failures.get(filename);
    if (failure !== undefined) {
      if (this.#clock.monotonicMs() - failure.atMs < this.#limits.failureKeptMs)
        return Promise.reject(failure.fault);
      this.#failures.delete(filename);
    }
    if (this.#fetches.size >= MAX_FETCHES) {
      const busy = new AppError<ModelErrorCode>('model_fetches_busy', 'too many models are being fetched');
      return Promise.reject(busy);
    }
    const fetching = this.#fetch(filename)
      .catch((fault) => {
        this.#remember(filename, fault);
        throw fault;
      })
      .finally(() => this.#fetches.delete(filename));
    this.#fetches.set(filename, fetching);
    return fetching;
  }

  async #fetch(filename: string): Promise<void> {
    if (this.#origin === null) {
      throw new AppError<ModelErrorCode>(
        'model_not_found',
        'there is no such model file, and no origin to ask',
      );
    }
    // Another transfer may have ended between the look at the disk and this one's begin.
    const isThere = await access(join(this.#directory, filename)).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    const startedMs = this.#clock.monotonicMs();
    const { totalTimeoutMs } = this.#limits;
    const reason = (): Error => new Error(`not whole after ${totalTimeoutMs / 1_000} s`);
    const deadline = startDeadline(this.#clock, { afterMs: totalTimeoutMs, reason }, this.#stopping.signal);
    const { signal } = deadline;
    try {
      const source = await openOrigin(originUrl(this.#origin, filename), this.#limits, signal);
      const target = { directory: this.#directory, filename };
      const sizeBytes = await storeModel(source, target, this.#limits, signal);
      const durationMs = Math.round(this.#clock.monotonicMs() - startedMs);
      this.#log.info('model fetched', { model: filename, bytes: sizeBytes, duration_ms: durationMs });
      await this.#cache.mark(filename);
      await this.#trim(filename);
    } catch (thrown) {
      const fault = thrown instanceof AppError ? thrown : originFault(thrown);
      if (fault.code !== 'model_not_found')
        this.#log.warn('model fetch failed', {
          ...{ model: filename, code: fault.code, reason: fault.message },
          ...(fault.cause === undefined ? {} : { cause: messageOf(fault.cause) }),
        });
      throw fault;
    } finally {
      deadline.end();
    }
  }

  async #trim(newest: string | null): Promise<void> {
    const removed = await this.#cache.trim(newest);
    if (removed.length > 0) this.#log.info('models removed: the cache is full', { models: removed });
  }

  #remember(filename: string, fault: unknown): void {
    const [oldest] = this.#failures.keys();
    if (oldest !== undefined && this.#failures.size >= MAX_FAILURES_KEPT) this.#failures.delete(oldest);
    this.#failures.set(filename, { fault, atMs: this.#clock.monotonicMs() });
  }
}
