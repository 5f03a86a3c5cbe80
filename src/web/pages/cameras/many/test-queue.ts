import type { CameraTestResult } from '../../../data/types.js';

/** What is tried; `id` and `stream` say whose password a mask in the address stands for. */
export type TestSource = {
  readonly url: string;
  readonly transport: 'tcp' | 'udp';
  readonly id?: string;
  readonly stream?: 'main' | 'sub';
};

export type TestState =
  | { readonly step: 'waiting' | 'running' }
  | { readonly step: 'done'; readonly result: CameraTestResult };

export type TestQueueDeps = {
  readonly test: (source: TestSource, signal: AbortSignal) => Promise<CameraTestResult>;
  readonly wait: (ms: number) => Promise<void>;
  readonly onChange: () => void;
};

/** As many as the service tests at once. */
const AT_ONCE = 8;
const DEFAULT_WAIT_SEC = 2;
const MS_PER_SEC = 1_000;

export const keyOf = ({ url, transport }: TestSource): string => `${transport} ${url}`;

const failed = (code: string, detail: string): CameraTestResult => ({
  ...{ ok: false, code, detail, codec: '', width: 0, height: 0, fps: 0 },
  ...{ keyframe_ms: null, reorder: null, audio_codec: '', test_id: '' },
});

const fieldOf = (thing: unknown, name: string): unknown =>
  typeof thing === 'object' && thing !== null ? Reflect.get(thing, name) : undefined;

/** Tests cameras one beside another, each once; those of somebody else may take the places, and are waited for. */
export class TestQueue {
  readonly #deps: TestQueueDeps;
  readonly #states = new Map<string, TestState>();
  readonly #waiting: TestSource[] = [];
  readonly #end = new AbortController();
  #running = 0;
  #isHeld = false;

  constructor(deps: TestQueueDeps) {
    this.#deps = deps;
  }

  stateOf(source: TestSource): TestState | null {
    return this.#states.get(keyOf(source)) ?? null;
  }

  get isBusy(): boolean {
    return this.#running > 0 || this.#waiting.length > 0;
  }

  /** Those that were tested already keep their result, unless they are to be tried again. */
  add(sources: readonly TestSource[], isAgain = false): void {
    for (const source of sources) {
      const step = this.stateOf(source)?.step;
      if (step === 'waiting' || step === 'running' || (step === 'done' && !isAgain)) continue;
      this.#states.set(keyOf(source), { step: 'waiting' });
      this.#waiting.push(source);
    }
    this.#deps.onChange();
    this.#fill();
  }

  /** What isn't running yet is not tested. */
  cancel(): void {
    for (const source of this.#waiting.splice(0)) this.#states.delete(keyOf(source));
    this.#deps.onChange();
  }

  close(): void {
    this.#waiting.length = 0;
    this.#end.abort();
  }

  #fill(): void {
    while (!this.#isHeld && this.#running < AT_ONCE) {
      const source = this.#waiting.shift();
      if (source === undefined) return;
      this.#running += 1;
      void this.#test(source);
    }
  }

  async #test(source: TestSource): Promise<void> {
    this.#set(source, { step: 'running' });
    try {
      this.#set(source, { step: 'done', result: await this.#deps.test(source, this.#end.signal) });
    } catch (fault) {
      if (this.#end.signal.aborted) return;
      if (fieldOf(fault, 'code') === 'tests_busy') await this.#waitFor(source, fault);
      else
        this.#set(source, { step: 'done', result: failed('not_tested', String(fieldOf(fault, 'message'))) });
    } finally {
      this.#running -= 1;
    }
    this.#fill();
    this.#deps.onChange();
  }

  async #waitFor(source: TestSource, fault: unknown): Promise<void> {
    this.#set(source, { step: 'waiting' });
    this.#waiting.unshift(source);
    if (this.#isHeld) return;
    this.#isHeld = true;
    const seconds = Number(fieldOf(fault, 'retryAfterSec') ?? DEFAULT_WAIT_SEC);
    await this.#deps.wait(seconds * MS_PER_SEC);
    this.#isHeld = false;
  }

  #set(source: TestSource, state: TestState): void {
    this.#states.set(keyOf(source), state);
    this.#deps.onChange();
  }
}
