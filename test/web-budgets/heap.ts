import type { CDPSession } from 'playwright-core';
import { until } from '../support/until.js';
import type { WatchedPage } from './stage.js';

type Usage = { readonly usedSize: number; readonly backingStorageSize: number };

/** Chromium answers for workers through the page, in messages of their own. */
class WorkerHeap {
  readonly #page: CDPSession;
  readonly #sessionId: string;
  #lastId = 0;

  constructor(page: CDPSession, sessionId: string) {
    this.#page = page;
    this.#sessionId = sessionId;
  }

  async ask<Value>(method: string): Promise<Value> {
    const id = ++this.#lastId;
    const answered = new Promise<Value>((resolve) => {
      const onMessage = ({ sessionId, message }: { sessionId: string; message: string }): void => {
        const answer = JSON.parse(message) as { id?: number; result: Value };
        if (sessionId !== this.#sessionId || answer.id !== id) return;
        this.#page.off('Target.receivedMessageFromTarget', onMessage);
        resolve(answer.result);
      };
      this.#page.on('Target.receivedMessageFromTarget', onMessage);
    });
    const message = JSON.stringify({ id, method });
    await this.#page.send('Target.sendMessageToTarget', { sessionId: this.#sessionId, message });
    return await answered;
  }
}

export type Heap = {
  /** Of the page and all its workers, once all is collected that can be. */
  usedBytes(): Promise<number>;
};

/** What a page and its workers keep, by the debugger. */
export const heapOf = async ({ context, page }: WatchedPage): Promise<Heap> => {
  const session = await context.newCDPSession(page);
  const workers: WorkerHeap[] = [];
  session.on('Target.attachedToTarget', ({ sessionId }) => workers.push(new WorkerHeap(session, sessionId)));
  await session.send('Target.setAutoAttach', {
    autoAttach: true,
    waitForDebuggerOnStart: false,
    flatten: false,
  });
  await until('the debugger has the workers', () => workers.length >= page.workers().length);
  const bytesOf = ({ usedSize, backingStorageSize }: Usage): number => usedSize + backingStorageSize;
  return {
    usedBytes: async () => {
      await session.send('HeapProfiler.collectGarbage');
      let used = bytesOf((await session.send('Runtime.getHeapUsage')) as Usage);
      for (const worker of workers) {
        await worker.ask('HeapProfiler.collectGarbage');
        used += bytesOf(await worker.ask<Usage>('Runtime.getHeapUsage'));
      }
      return used;
    },
  };
};
