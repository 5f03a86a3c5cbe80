import { signal } from '@preact/signals';
import type { SeenObject } from '../../objects/seen-object.js';
import type { Model } from '../data/types.js';
import { whenNotLoaded } from '../player/decoders.js';
import type { LiveTile } from '../player/live-tile.js';
import { monotonicMs } from '../player/monotonic.js';
import type { FromModelWorker, ModelFault, ToModelWorker } from './model-messages.js';
import { type ModelFigures, Rate } from './rate.js';

/** As long as a page's live pictures go on when nobody sees it. */
const HIDDEN_AFTER_MS = 5_000;
/** There is no live picture: it is looked for again. */
const LOOK_AGAIN_MS = 250;
const MAX_INTERVAL_MS = 1_000;
/** Boxes stay until the next ones come, where a machine is slow; not for ever, where none do. */
const SHOWN_MS = 2_000;
/** Nobody reads faster. */
const TELL_EVERY_MS = 500;

export type ModelState =
  | { readonly is: 'loading'; readonly runtimeBytes: number; readonly modelBytes: number }
  /** There is no live picture to look at. */
  | { readonly is: 'waiting' }
  | { readonly is: 'looking'; readonly figures: ModelFigures; readonly objects: readonly SeenObject[] }
  /** Nobody sees the page: nothing is held. */
  | { readonly is: 'asleep' }
  | { readonly is: 'failed'; readonly fault: ModelFault; readonly detail: string };

/**
 * A model that looks at a tile's newest picture, one after the other: the next one is taken when the last was answered,
 * so that none ever waits. Its worker, and all that it holds, ends when the page is hidden or left.
 */
export class ModelRun {
  readonly state = signal<ModelState>({ is: 'loading', runtimeBytes: 0, modelBytes: 0 });
  readonly #model: Model;
  readonly #tile: LiveTile;
  #worker: Worker | null = null;
  #rate = new Rate();
  #taken = { atMs: 0, lagMs: null as number | null };
  #toldMs = 0;
  #next: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  constructor(model: Model, tile: LiveTile) {
    this.#model = model;
    this.#tile = tile;
    document.addEventListener('visibilitychange', this.#onVisibility);
    this.#begin();
  }

  retry(): void {
    this.#end();
    this.#begin();
  }

  close(): void {
    document.removeEventListener('visibilitychange', this.#onVisibility);
    clearTimeout(this.#hiding);
    this.#end();
  }

  #onVisibility = (): void => {
    clearTimeout(this.#hiding);
    if (document.hidden) {
      this.#hiding = setTimeout(() => {
        this.#end();
        this.state.value = { is: 'asleep' };
      }, HIDDEN_AFTER_MS);
    } else if (this.state.peek().is === 'asleep') this.#begin();
  };

  #begin(): void {
    const worker = new Worker(new URL('./model-worker.ts', import.meta.url), { type: 'module' });
    this.#worker = worker;
    this.#rate = new Rate();
    this.state.value = { is: 'loading', runtimeBytes: 0, modelBytes: 0 };
    worker.onmessage = ({ data }: MessageEvent<FromModelWorker>) => this.#onMessage(data);
    whenNotLoaded(worker, () => this.#onFault('runtime', ''));
    const { name, description, size_bytes: sizeBytes } = this.#model;
    const address = new URL(`/models/${encodeURIComponent(name)}`, location.href).href;
    const described = description === null ? null : JSON.stringify(description);
    this.#tell({ op: 'load', model: { address, sizeBytes, description: described } });
  }

  #end(): void {
    this.#worker?.terminate();
    this.#worker = null;
    clearTimeout(this.#next);
    this.#tile.see([], 0);
  }

  #tell(message: ToModelWorker, transfer: Transferable[] = []): void {
    this.#worker?.postMessage(message, transfer);
  }

  #onMessage(message: FromModelWorker): void {
    if (message.op === 'loading') this.state.value = { ...message, is: 'loading' };
    else if (message.op === 'fault') this.#onFault(message.fault, message.detail);
    else if (message.op === 'ready') void this.#take();
    else this.#onSeen(message.objects, message.tookMs);
  }

  #onFault(fault: ModelFault, detail: string): void {
    this.#end();
    this.state.value = { is: 'failed', fault, detail };
  }

  async #take(): Promise<void> {
    const worker = this.#worker;
    const { shown } = this.#tile;
    this.#taken = { atMs: monotonicMs(), lagMs: this.#tile.view.peek().lagMs };
    // A canvas that is being made anew, and a video that has no picture yet, give none.
    const picture = shown === null ? null : await createImageBitmap(shown).catch(() => null);
    if (worker === null || worker !== this.#worker) {
      picture?.close();
      return;
    }
    if (picture !== null) this.#tell({ op: 'look', picture }, [picture]);
    else {
      this.state.value = { is: 'waiting' };
      this.#takeIn(LOOK_AGAIN_MS);
    }
  }

  #takeIn(ms: number): void {
    this.#next = setTimeout(() => void this.#take(), Math.max(0, ms));
  }

  #onSeen(objects: readonly SeenObject[], tookMs: number): void {
    const nowMs = monotonicMs();
    const { atMs, lagMs } = this.#taken;
    this.#tile.see(objects, Math.max(SHOWN_MS, 2 * (nowMs - atMs)));
    const figures = this.#rate.note(nowMs, tookMs, lagMs === null ? null : lagMs + nowMs - atMs);
    if (nowMs - this.#toldMs > TELL_EVERY_MS || this.state.peek().is !== 'looking') {
      this.#toldMs = nowMs;
      this.state.value = { is: 'looking', figures, objects };
    }
    // No sooner than there is another picture.
    const intervalMs = Math.min(this.#tile.report.peek()?.intervalMs ?? 0, MAX_INTERVAL_MS);
    this.#takeIn(atMs + intervalMs - nowMs);
  }
}
