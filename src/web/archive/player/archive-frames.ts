import { ArchiveEngine } from './archive-engine.js';
import type { EngineCommand } from './engine-messages.js';

/** The worker's own names: the app's types are those of a page. */
const worker = self as unknown as {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  requestAnimationFrame?: (run: (nowMs: number) => void) => number;
  onmessage: ((event: MessageEvent<EngineCommand>) => void) | null;
};

const FRAME_MS = 16;

const engine = new ArchiveEngine({
  report: (report, transfer = []) => worker.postMessage(report, transfer),
  nextFrame: (run) => {
    if (worker.requestAnimationFrame === undefined) setTimeout(() => run(performance.now()), FRAME_MS);
    else worker.requestAnimationFrame(run);
  },
});

worker.onmessage = ({ data }) => engine.take(data);
