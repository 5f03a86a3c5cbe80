import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const entry = fileURLToPath(new URL('./camera-process.js', import.meta.url));

export type Cameras = {
  url(nth: number): string;
  /** How many frames each has sent so far. */
  sent(): Promise<readonly number[]>;
  stop(): Promise<void>;
};

/** Cameras of 640x360 with 15 pictures a second, in a process of their own. */
export const startCameras = async (count: number): Promise<Cameras> => {
  const child = spawn(process.execPath, ['--enable-source-maps', entry, String(count)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async <Value>(): Promise<Value> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the cameras ended');
    return JSON.parse(value) as Value;
  };
  const port = await next<number>();
  return {
    url: (nth) => `rtsp://127.0.0.1:${port}/cam${nth}`,
    sent: () => {
      child.stdin.write('\n');
      return next<readonly number[]>();
    },
    stop: async () => {
      child.stdin.end();
      await exited;
    },
  };
};
