import { spawn } from 'node:child_process';

/**
 * Ends the process, even if one of its threads hangs in a system call, as on a disk that is gone: process.exit
 * joins worker threads and libuv's pool, however long that takes. A small process waits a second for our end of
 * its input to close, which is when we are gone, and kills us if that doesn't happen.
 */
export const exitProcess = (code: number): never => {
  const script = 'timeout 1 cat || kill -KILL "$0"';
  // Without a shell we end as well as process.exit can.
  spawn('sh', ['-c', script, String(process.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  }).on('error', () => {});
  process.exit(code);
};
