import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asNpmStart, type RunningService, recordsOf, startService } from '../../test/support/service.js';
import type { ViewerKind, ViewerTarget } from '../viewers/messages.js';
import { MetricsText } from './metrics-text.js';
import type { Subject } from './subject.js';

/** As many as one request may add. */
const BATCH = 500;
const POLL_MS = 100;
/** Plus this for each camera: each of them must have sent a keyframe. */
const START_TIMEOUT_MS = 60_000;
const START_TIMEOUT_MS_PER_CAMERA = 200;
/** What one page may show. */
const MOST_TILES = 64;

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** As the service spells them, so that they sort as they count. */
const cameraId = (index: number): string => `cam${String(index).padStart(4, '0')}`;

/** The real service, as a process with a folder of its own, and cameras that were added by its API. */
export class OwnService implements Subject {
  readonly #service: RunningService;
  readonly #forget: () => void;
  #token: string;
  #cameras = 0;

  private constructor(service: RunningService, forget: () => void, token: string) {
    this.#service = service;
    this.#forget = forget;
    this.#token = token;
  }

  static async start(options: { readonly withRtsp: boolean }): Promise<OwnService> {
    const folder = mkdtempSync(join(tmpdir(), 'framering-bench-'));
    const forget = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    // Whoever interrupts a run wants no recordings of it.
    process.once('exit', forget);
    const service = await startService({
      DATA_DIR: folder,
      LOG_LEVEL: 'warn',
      ...asNpmStart,
      ...(options.withRtsp ? { RTSP_PORT: '0' } : {}),
    });
    return new OwnService(service, forget, await service.login('admin', service.adminPassword));
  }

  get pid(): number {
    return this.#service.process.pid ?? 0;
  }

  get cameras(): number {
    return this.#cameras;
  }

  get list(): Subject['list'] {
    return {
      url: new URL('/api/cameras', this.#service.url).href,
      headers: { authorization: `Bearer ${this.#token}` },
    };
  }

  /** Whether it has ended by itself. */
  get hasEnded(): boolean {
    return this.#service.process.exitCode !== null || this.#service.process.signalCode !== null;
  }

  /** Adds cameras and waits until all stream; answers how long that took. */
  async stream(
    urls: readonly string[],
    isRecorded: boolean,
    onProgress: (streaming: number) => void,
  ): Promise<number> {
    const startMs = performance.now();
    for (let first = 0; first < urls.length; first += BATCH) {
      const create = urls
        .slice(first, first + BATCH)
        .map((url, index) => ({ id: cameraId(this.#cameras + first + index), url, record: isRecorded }));
      const { status, text } = await this.#call('POST', '/api/cameras/bulk', {
        ...{ create, update: [], delete: [] },
      });
      if (status !== 200) throw new Error(`adding cameras: ${status} ${text.slice(0, 300)}`);
    }
    this.#cameras += urls.length;
    const timeoutMs = START_TIMEOUT_MS + this.#cameras * START_TIMEOUT_MS_PER_CAMERA;
    for (;;) {
      const streaming = await this.streaming();
      onProgress(streaming);
      if (streaming === this.#cameras) return performance.now() - startMs;
      if (performance.now() - startMs > timeoutMs)
        throw new Error(`only ${streaming} of ${this.#cameras} cameras stream`);
      await sleep(POLL_MS);
    }
  }

  async streaming(): Promise<number> {
    const { body } = await this.#call('GET', '/api/cameras');
    return (body as { state: string }[]).filter(({ state }) => state === 'streaming').length;
  }

  async metrics(): Promise<MetricsText> {
    const response = await fetch(new URL('/metrics', this.#service.metricsUrl));
    return new MetricsText(await response.text());
  }

  async targets(kind: ViewerKind, count: number): Promise<readonly ViewerTarget[]> {
    if (kind === 'wall') return this.#walls(count);
    return Array.from({ length: count }, (_, index) => ({
      url: this.#address(kind, cameraId(index % this.#cameras)),
    }));
  }

  async stop(): Promise<void> {
    if (!this.hasEnded) await this.#service.stop();
    this.#forget();
    process.off('exit', this.#forget);
  }

  #address(kind: Exclude<ViewerKind, 'wall'>, id: string): string {
    const { url } = this.#service;
    switch (kind) {
      case 'ws':
        return new URL(`/stream/ws/${id}`, url.replace(/^http/, 'ws')).href;
      case 'hls':
        return new URL(`/stream/hls/${id}/ll.m3u8`, url).href;
      case 'whep':
        return new URL(`/stream/webrtc/whep/${id}`, url).href;
      case 'rtsp': {
        const listening = recordsOf(this.#service.out()).find(({ msg }) => msg === 'listening');
        return `${String(listening?.['rtsp_url']).replace(/\/$/, '')}/${id}`;
      }
    }
  }

  /** As few pages as can show so many tiles; none shows a camera twice, unless there are fewer cameras than tiles. */
  async #walls(tiles: number): Promise<readonly ViewerTarget[]> {
    const most = Math.min(MOST_TILES, this.#cameras);
    const walls: ViewerTarget[] = [];
    for (let first = 0; first < tiles; first += most) {
      const cameraIds = Array.from({ length: Math.min(most, tiles - first) }, (_, index) =>
        cameraId((first + index) % this.#cameras),
      );
      const { body } = await this.#call('GET', '/api/wall-token');
      const { token } = body as { token: string };
      const url = new URL(`/stream/wall?token=${token}`, this.#service.url.replace(/^http/, 'ws')).href;
      walls.push({ url, cameraIds });
    }
    return walls;
  }

  /** A token is good for an hour, and some runs last longer. */
  async #call(
    method: string,
    path: string,
    sent?: unknown,
  ): Promise<{ status: number; text: string; body: unknown }> {
    const ask = () =>
      this.#service.call(method, path, {
        token: this.#token,
        ...(sent === undefined ? {} : { body: sent }),
      });
    const answer = await ask();
    if (answer.status !== 401) return answer;
    this.#token = await this.#service.login('admin', this.#service.adminPassword);
    return ask();
  }
}
