import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { Webhook } from '../../store/webhooks.js';
import {
  MAX_TRIES_IN_FRONT,
  retryAfterMs,
  verdictOf,
  waitForMessageMs,
  waitForReceiverMs,
} from './attempts.js';
import type { Outbox, ReceiverState, Waiting } from './outbox.js';
import type { Post, PostOutcome } from './post.js';
import { signedHeaders } from './signature.js';
import { hostOf } from './webhook-url.js';

export type ReceiverDeps = {
  readonly clock: Clock;
  /** For what is waited for: wall time as of the start, which no leap of the host's clock changes. */
  readonly queueMs: () => number;
  readonly log: Logger;
  readonly outbox: Outbox;
  readonly send: (what: Post) => Promise<PostOutcome>;
  readonly random: () => number;
  /** An attempt came to its end. */
  readonly onAttempt: (isDelivered: boolean) => void;
  /** It answered that it wants nothing any more. */
  readonly onGone: () => void;
};

/** A disk that takes nothing is asked again. */
const DISK_WAIT_MS = 5_000;

/** What a request to a receiver says besides its body. */
export const requestOf = (
  { url, secret }: Pick<Webhook, 'url' | 'secret'>,
  message: { readonly messageId: string; readonly body: string },
  wallMs: number,
): Omit<Post, 'signal'> => ({
  url,
  body: message.body,
  headers: {
    'content-type': 'application/json',
    'user-agent': 'Framering',
    ...signedHeaders(secret, { ...message, wallMs }),
  },
});

/** Sends what waits for one receiver, one message at a time. */
export class Receiver {
  readonly #deps: ReceiverDeps;
  #webhook: Webhook;
  #timer: Timer | null = null;
  /** What is on its way. */
  #busy: { readonly id: number; readonly abort: AbortController } | null = null;
  /** It has a message, and the disk doesn't take that: nothing else is sent before that is noted. */
  #unnoted: (() => boolean) | null = null;
  #isStopped = false;

  constructor(webhook: Webhook, deps: ReceiverDeps) {
    this.#webhook = webhook;
    this.#deps = deps;
  }

  get webhook(): Webhook {
    return this.#webhook;
  }

  /** Of the message that is on its way; 0: none is. */
  get busyId(): number {
    return this.#busy?.id ?? 0;
  }

  /** Another address or secret may be the cure: it is tried at once. */
  change(webhook: Webhook): void {
    const { outbox } = this.#deps;
    const isElsewhere = webhook.url !== this.#webhook.url || webhook.secret !== this.#webhook.secret;
    const isWoken = webhook.enabled && !this.#webhook.enabled;
    this.#webhook = webhook;
    if (!isElsewhere && !isWoken) return;
    this.#busy?.abort.abort();
    outbox.together(() => {
      outbox.setState(webhook.id, { ...outbox.stateOf(webhook.id), failures: 0, notBeforeMs: 0 });
      outbox.dueNow(webhook.id);
    });
    this.kick();
  }

  /** There may be something to send. */
  kick(): void {
    if (this.#isStopped || this.#busy !== null || !this.#webhook.enabled) return;
    this.#timer?.cancel();
    this.#timer = null;
    if (this.#unnoted?.() === false) {
      this.#wait(DISK_WAIT_MS);
      return;
    }
    this.#unnoted = null;
    const { queueMs, outbox } = this.#deps;
    const { id } = this.#webhook;
    const nowMs = queueMs();
    const { notBeforeMs } = outbox.stateOf(id);
    if (notBeforeMs > nowMs) {
      this.#wait(notBeforeMs - nowMs);
      return;
    }
    const message = outbox.next(id, nowMs);
    if (message !== null) {
      void this.#send(message);
      return;
    }
    const dueMs = outbox.nextDueMs(id);
    if (dueMs !== null) this.#wait(Math.max(dueMs - nowMs, 1));
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#busy?.abort.abort();
  }

  #wait(delayMs: number): void {
    this.#timer = this.#deps.clock.after(delayMs, () => {
      this.#timer = null;
      this.kick();
    });
  }

  async #send(message: Waiting): Promise<void> {
    const { clock, send } = this.#deps;
    const abort = new AbortController();
    this.#busy = { id: message.id, abort };
    const webhook = this.#webhook;
    const outcome = await send({ ...requestOf(webhook, message, clock.wallMs()), signal: abort.signal });
    this.#busy = null;
    // Nobody knows whether it has it: it comes again, with the same id.
    if (this.#isStopped) return;
    if (abort.signal.aborted) return this.kick();
    if (this.#settle(message, outcome)) this.kick();
    else if (!this.#isStopped) this.#wait(DISK_WAIT_MS);
  }

  /** Notes what came of it; false: the disk doesn't take that. */
  #settle(message: Waiting, outcome: PostOutcome): boolean {
    const { clock, queueMs, outbox, random, onAttempt, onGone } = this.#deps;
    const { id } = this.#webhook;
    const attempts = message.attempts + 1;
    const verdict = verdictOf(outcome, attempts);
    onAttempt(verdict === 'delivered');
    const nowMs = queueMs();
    const atMs = clock.wallMs();
    const before = outbox.stateOf(id);
    const askedMs = retryAfterMs(outcome.retryAfter, atMs);
    const isWell = verdict === 'delivered';
    const failures = isWell ? 0 : before.failures + 1;
    this.#tell(before, failures, outcome);
    const isAway = verdict === 'away';
    const state = {
      failures,
      notBeforeMs: isAway ? nowMs + waitForReceiverMs(failures, random(), askedMs) : 0,
      last: { atMs, status: outcome.status, detail: outcome.detail, durationMs: outcome.durationMs },
    };
    const dueMs = verdict === 'refused' ? nowMs + waitForMessageMs(attempts, random(), askedMs) : 0;
    const note = (): boolean =>
      outbox.together(() => {
        if (isWell) outbox.remove(id, message.id, { isDropped: false });
        else outbox.failed(message.id, dueMs);
        outbox.setState(id, state);
        // What it refused while it was ill is no fault of the messages.
        if (isWell && before.failures >= MAX_TRIES_IN_FRONT) outbox.dueNow(id);
      });
    const isNoted = note();
    this.#unnoted = isNoted || !isWell ? null : note;
    if (verdict === 'gone') onGone();
    return isNoted;
  }

  /** Once when it begins to fail, and once when it is well again. */
  #tell({ failures: before }: ReceiverState, failures: number, { detail }: PostOutcome): void {
    const { log } = this.#deps;
    const about = { webhook: this.#webhook.id, host: hostOf(this.#webhook.url) };
    if (failures === 1) log.warn('a webhook could not be delivered', { ...about, reason: detail });
    else if (failures === 0 && before > 0)
      log.info('a webhook is delivered again', { ...about, failures: before });
  }
}
