import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { factsCameras, keepFacts, lookInto, unlearned } from '../../src/archive/facts/learn-facts.js';
import { type ProcessFigures, processFigures } from '../support/process-figures.js';
import { type RunningService, startService } from '../support/service.js';

const RETENTION_DAYS = 365;

/** The service on a folder of its own, with cameras that nobody connects to. */
export class ArchiveService {
  readonly #dir: string;
  readonly #ids: readonly string[];
  #running: RunningService | null = null;
  #token = '';

  constructor(dir: string, ids: readonly string[]) {
    this.#dir = dir;
    this.#ids = ids;
  }

  /** In how many milliseconds it listens. */
  async start(): Promise<number> {
    const begunMs = performance.now();
    const service = await startService({
      DATA_DIR: join(this.#dir, 'data'),
      ARCHIVE_DIR: join(this.#dir, 'recordings'),
      STORAGE_MIN_FREE_PERCENT: '0',
      LOG_LEVEL: 'info',
    });
    const tookMs = performance.now() - begunMs;
    this.#running = service;
    const passwordFile = join(this.#dir, 'password');
    const isFirst = !existsSync(passwordFile);
    if (isFirst) writeFileSync(passwordFile, service.adminPassword);
    this.#token = await service.login('admin', readFileSync(passwordFile, 'utf8'));
    if (isFirst) {
      for (const id of this.#ids)
        await this.#ask('POST', '/api/cameras', {
          ...{ id, url: 'rtsp://127.0.0.1:9/x', disabled: true, retention_days: RETENTION_DAYS },
        });
    }
    return tookMs;
  }

  /** What the service does by and by, at once. */
  learnFacts(): void {
    const place = {
      archiveDir: join(this.#dir, 'recordings'),
      factsDir: join(this.#dir, 'data', 'archive-facts'),
    };
    for (const cameraId of factsCameras(place)) {
      const { files } = unlearned({ ...place, cameraId });
      const found = lookInto({ ...place, cameraId, files, forMs: Number.POSITIVE_INFINITY });
      const learned = files.map((file, at) => ({ ...file, inspection: found[at]! }));
      keepFacts({ ...place, cameraId, learned });
    }
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = null;
  }

  figures(): ProcessFigures {
    const pid = this.#running?.process.pid ?? 0;
    return processFigures(pid, {})['service'] ?? { cpuMs: 0, rssBytes: 0 };
  }

  /** How many milliseconds it takes. */
  async list(id: string): Promise<number> {
    const begunMs = performance.now();
    await this.#ask('GET', `/api/cameras/${id}/archive`);
    return performance.now() - begunMs;
  }

  async timeline(id: string, fromMs: number, toMs: number): Promise<void> {
    const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
    await this.#ask('GET', `/api/cameras/${id}/recordings?from=${from}&to=${to}`);
  }

  async exportDay(cameraId: string, fromMs: number, toMs: number): Promise<{ readonly plannedMs: number }> {
    const [from, to] = [fromMs, toMs].map((ms) => new Date(ms).toISOString());
    const begunMs = performance.now();
    await this.#ask('POST', '/api/exports', { items: [{ camera_id: cameraId, from, to }] });
    return { plannedMs: performance.now() - begunMs };
  }

  async #ask(method: string, path: string, body?: unknown): Promise<void> {
    if (this.#running === null) throw new Error('the service does not run');
    // What is compressed for it is no figure of the archive's.
    const headers = { 'accept-encoding': 'identity' };
    const options = { token: this.#token, headers, ...(body === undefined ? {} : { body }) };
    const answer = await this.#running.call(method, path, options);
    if (answer.status >= 400)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
  }
}
