import type { Clock, Timer } from '../base/clock.js';
import { AppError } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import type { ThreadHandle } from '../base/thread-handle.js';
import type {
  AskAnswer,
  FromRelayThread,
  RelayFigures,
  RelayThreadOptions,
  ToRelayThread,
} from './messages.js';
import { spawnRelayThread } from './send/relay-thread.js';
import { MAX_REASON_CHARS } from './wire/format.js';
import type { SeenThere } from './wire/texts.js';

/** Where a source's frames are, and by which boxes they come here; null: that isn't known yet. */
export type RelayedFeed = {
  readonly ring: SharedArrayBuffer;
  readonly bell: SharedArrayBuffer;
  readonly path: readonly string[] | null;
};

/** Whoever has the cameras of this box; a source that is on demand is connected as long as somebody follows it. */
export type RelayedFeeds = {
  follow(source: string, listener: (feed: RelayedFeed | null) => void): () => void;
};

/** Answers what other boxes ask besides pictures; what it throws is told them. */
export type RelayAnswers = (
  box: string,
  question: Readonly<Record<string, unknown>>,
) => Promise<Pick<AskAnswer, 'bytes' | 'content'>>;

export type RelayDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly feeds: RelayedFeeds;
  readonly answers: RelayAnswers;
  /** Told of the thread's figures; returns what forgets them. */
  readonly threads: { add(name: string, figures: SharedArrayBuffer): () => void };
};

const RESTART_AFTER_MS = 1_000;

/** Sends this box's frames to others that ask for them: the main thread's side, which never touches media. */
export class Relay {
  readonly #deps: RelayDeps;
  /** With the port that it turned out to be. */
  #options: RelayThreadOptions;
  #thread: ThreadHandle<ToRelayThread> | null = null;
  #forgetThread: () => void = () => {};
  #restart: Timer | null = null;
  #figures: RelayFigures = { pulls: 0, bytes: 0, droppedFrames: 0, lagMs: 0 };
  #isStopping = false;
  /** It was told that nobody can be served now. */
  #isDown = false;
  /** What ends the following of each source that some box asks for. */
  readonly #followed = new Map<string, () => void>();
  readonly #bellIds = new WeakMap<SharedArrayBuffer, number>();
  #bells = 0;

  private constructor(options: RelayThreadOptions, deps: RelayDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** Listens; throws `bad_config` where it can't. */
  static async start(options: RelayThreadOptions, deps: RelayDeps): Promise<Relay> {
    const relay = new Relay(options, deps);
    try {
      await new Promise<void>((resolve, reject) => relay.#start(resolve, reject));
    } catch (fault) {
      await relay.stop();
      throw fault;
    }
    return relay;
  }

  get port(): number {
    return this.#options.port;
  }

  get figures(): RelayFigures {
    return this.#figures;
  }

  /** Tells the boxes that ask for the source what is seen in a picture of it. */
  tell(source: string, seen: SeenThere): void {
    if (this.#followed.has(source)) this.#thread?.send({ type: 'seen', source, seen });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#restart?.cancel();
    this.#unfollowAll();
    await this.#thread?.stop();
    this.#forgetThread();
  }

  #start(onListening: () => void, onFailed: (fault: AppError) => void): void {
    let isListening = false;
    const onMessage = (message: FromRelayThread): void => {
      if (message.type === 'listening') {
        this.#options = { ...this.#options, port: message.port };
        isListening = true;
        onListening();
      } else if (message.type === 'failed') {
        const { host, port } = this.#options;
        const what = `RELAY_PORT=${port} can't be used: nobody can listen at ${host}:${port}`;
        onFailed(new AppError('bad_config', `${what} (${message.code || message.message})`));
      } else this.#onMessage(message);
    };
    this.#thread = spawnRelayThread(this.#options, {
      onMessage,
      onLost: (reason) => {
        if (isListening) this.#deps.log.error("the relay's thread died", { reason });
        else onFailed(new AppError('internal_error', `the relay's thread died: ${reason}`));
        this.#restartSoon();
      },
    });
  }

  #onMessage(message: Exclude<FromRelayThread, { type: 'listening' | 'failed' }>): void {
    if (message.type === 'thread') this.#forgetThread = this.#deps.threads.add('relay', message.stats);
    else if (message.type === 'figures') this.#figures = message.figures;
    else if (message.type === 'log') this.#deps.log[message.level](message.message, message.fields);
    else if (message.type === 'asked') void this.#answer(message);
    else if (message.isWanted) this.#follow(message.source);
    else this.#unfollow(message.source);
  }

  async #answer({ id, box, question }: Extract<FromRelayThread, { type: 'asked' }>): Promise<void> {
    const thread = this.#thread;
    let answer: AskAnswer;
    try {
      answer = { fault: null, ...(await this.#deps.answers(box, question)) };
    } catch (thrown) {
      const isOurs = thrown instanceof AppError;
      if (!isOurs) this.#deps.log.error('a box could not be answered', { box, reason: String(thrown) });
      const fault = isOurs
        ? { code: thrown.code, message: thrown.message.slice(0, MAX_REASON_CHARS) }
        : { code: 'internal_error', message: 'it failed inside' };
      answer = { fault, content: {}, bytes: null };
    }
    // Of a thread that was lost meanwhile nobody waits for it.
    if (thread === this.#thread)
      thread?.send({ type: 'answer', id, answer }, answer.bytes === null ? [] : [answer.bytes.buffer]);
  }

  #follow(source: string): void {
    if (this.#isStopping) return;
    const unfollow = this.#deps.feeds.follow(source, (feed) => {
      if (feed === null) this.#thread?.send({ type: 'gone', source });
      else this.#thread?.send({ type: 'feed', source, ...feed, bellId: this.#bellIdOf(feed.bell) });
    });
    this.#followed.set(source, unfollow);
  }

  #unfollow(source: string): void {
    this.#followed.get(source)?.();
    this.#followed.delete(source);
  }

  #unfollowAll(): void {
    for (const source of [...this.#followed.keys()]) this.#unfollow(source);
  }

  #bellIdOf(bell: SharedArrayBuffer): number {
    const known = this.#bellIds.get(bell);
    if (known !== undefined) return known;
    this.#bells += 1;
    this.#bellIds.set(bell, this.#bells);
    return this.#bells;
  }

  #restartSoon(): void {
    this.#forgetThread();
    this.#unfollowAll();
    this.#restart?.cancel();
    if (this.#isStopping || this.#options.port === 0) return;
    const { clock, log } = this.#deps;
    this.#restart = clock.after(RESTART_AFTER_MS, () =>
      this.#start(
        () => {
          this.#isDown = false;
          log.info('the relay listens again');
        },
        ({ message }) => {
          if (!this.#isDown) log.error('the relay does not listen: it goes on trying', { reason: message });
          this.#isDown = true;
          void this.#thread?.stop();
          this.#restartSoon();
        },
      ),
    );
  }
}
