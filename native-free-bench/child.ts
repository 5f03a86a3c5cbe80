import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** Starts a part of a benchmark in a process of its own, with as many threads for its disk as `npm start` gives it. */
export const forkPart = (entry: URL): ChildProcess =>
  fork(entry, { serialization: 'advanced', env: { UV_THREADPOOL_SIZE: '16', ...process.env } });

/** A part of a benchmark in a process of its own: asked one thing at a time, over IPC. */
export class Child<Ask, Answer> {
  readonly #process: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(entry: URL) {
    this.#process = forkPart(entry);
    this.#ended = once(this.#process, 'exit').then(([code]) => {
      throw new Error(`a process of the benchmark ended early (${String(code)})`);
    });
    // Nobody may be asking when it ends.
    this.#ended.catch(() => {});
  }

  async ask(question: Ask): Promise<Answer> {
    this.#process.send(question as object);
    const [answer] = (await Promise.race([once(this.#process, 'message'), this.#ended])) as [Answer];
    return answer;
  }

  end(): void {
    this.#process.kill('SIGKILL');
  }
}

/** The other side: answers until the parent goes away. */
export const answer = <Ask, Answer>(handle: (question: Ask) => Promise<Answer>): void => {
  process.on('message', (question: Ask) => {
    handle(question).then(
      (reply) => process.send?.(reply),
      (fault: unknown) => {
        process.stderr.write(`${fault instanceof Error ? fault.stack : String(fault)}\n`);
        process.exit(1);
      },
    );
  });
  process.on('disconnect', () => process.exit(0));
};
