import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { Engine } from '../src/detect/engine/engine.js';
import type { ToEngine } from '../src/detect/messages.js';

/** The process around an Engine. */
const [, , ffmpegPath = 'ffmpeg', modelPath = ''] = process.argv;

/** Nothing that it does may take time from cameras. */
const NICENESS = 10;
setPriority(NICENESS);
/** Where a network takes all memory there is, the system is to end this and its decoders, and not the service. */
const END_FIRST = '800';
try {
  writeFileSync('/proc/self/oom_score_adj', END_FIRST);
} catch {
  // Not Linux, or it is higher already.
}

const engine = new Engine({ ffmpegPath, modelPath }, (message) => void process.send?.(message, () => {}));
// The service ends it: a terminal or a service manager that means the whole group mustn't be faster.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.on('disconnect', () => {
  engine.stop();
  process.exit(0);
});
process.on('message', (job: ToEngine) => void engine.handle(job));
