import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { answerParent, tellParent } from '../src/base/asked-process.js';
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

const engine = new Engine({ ffmpegPath, modelPath }, tellParent);
answerParent(
  (job: ToEngine) => void engine.handle(job),
  () => engine.stop(),
);
