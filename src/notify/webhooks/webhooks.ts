import { randomBytes } from 'node:crypto';
import type { Change } from '../../base/change.js';
import type { Clock, Timer } from '../../base/clock.js';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { Webhook, WebhookTable } from '../../store/webhooks.js';
import { type Occurrence, toldEvent } from '../occurrence.js';
import type { LastAttempt, Outbox } from './outbox.js';
import { type PostDeps, type PostOutcome, post } from './post.js';
import { Receiver, requestOf } from './receiver.js';
import { newSecret } from './signature.js';
import { literalFault } from './target-address.js';
import { maskedUrl, unmaskedUrl } from './webhook-url.js';

export type WebhooksDeps = Omit<PostDeps, 'clock'> & {
  readonly clock: Clock;
  readonly log: Logger;
  readonly table: WebhookTable;
  readonly change: Change;
  readonly outbox: Outbox;
  /** Puts the events on the disk of which messages are about to be: who hears of a beginning is to hear of its end. */
  readonly keepEvents?: () => void;
  readonly random?: () => number;
};

/** A webhook as an administrator sees it: without its secret, and with what became of its messages. */
export type WebhookView = Omit<Webhook, 'secret'> & {
  readonly waiting: number;
  readonly dropped: number;
  readonly failures: number;
  readonly last: (Omit<LastAttempt, 'atMs' | 'durationMs'> & { at: string; duration_ms: number }) | null;
};

export type NewWebhook = Omit<Webhook, 'id' | 'secret'> & { readonly secret: string | null };
export type WebhookChanges = Partial<Omit<Webhook, 'id'>>;

const ID_BYTES = 8;
const MINUTE_MS = 60_000;
/** A turn of the main thread takes so many; the rest comes with the next. */
const MAX_A_TURN = 200;
/** That wait for a disk; the oldest are given up. */
const MAX_UNWRITTEN = 10_000;
const DISK_WAIT_MS = 1_000;
const MAX_TESTS = 4;

const isWanted = ({ types, camera_ids, labels }: Webhook, { event }: Occurrence): boolean =>
  (types.length === 0 || types.includes(event.type)) &&
  // What is about no camera, or nothing that was seen, is not asked for the one that it is about.
  (camera_ids.length === 0 || event.cameraId === '' || camera_ids.includes(event.cameraId)) &&
  (labels.length === 0 || event.label === '' || labels.includes(event.label));

const bodyOf = (occurrence: Occurrence, sequence: number): string =>
  JSON.stringify({
    type: occurrence.type,
    timestamp: new Date(occurrence.wallMs).toISOString(),
    sequence,
    data: toldEvent(occurrence.event),
  });

/** Other people's programs that are told of what happens. */
export class Webhooks {
  /** Since the start, by what came of them. */
  readonly counts = { sent: 0, failed: 0, dropped: 0 };
  readonly #deps: WebhooksDeps;
  /** At the start the wall's time was so far ahead of the clock that only moves on. */
  readonly #aheadMs: number;
  readonly #receivers = new Map<string, Receiver>();
  /** What happened in this turn, and for whom; or while the disk took nothing. */
  #unwritten: { readonly webhookId: string; readonly occurrence: Occurrence }[] = [];
  #writing: { cancel(): void } | null = null;
  readonly #sweeping: Timer;
  #runningTests = 0;
  /** Given up, and not yet said in the log. */
  #untold = 0;

  constructor(deps: WebhooksDeps) {
    this.#deps = deps;
    this.#aheadMs = deps.clock.wallMs() - deps.clock.monotonicMs();
    this.#sweeping = deps.clock.every(MINUTE_MS, () => this.#sweep());
    this.reload();
  }

  /** Messages that wait. */
  get waiting(): number {
    let waiting = this.#unwritten.length;
    for (const id of this.#receivers.keys()) waiting += this.#deps.outbox.loadOf(id).count;
    return waiting;
  }

  /** Messages that are on their way. */
  get sending(): number {
    return [...this.#receivers.values()].filter(({ busyId }) => busyId !== 0).length;
  }

  list(): WebhookView[] {
    return this.#deps.table.list().map((webhook) => this.#viewOf(webhook));
  }

  /** Throws `not_found`. */
  find(id: string): WebhookView {
    return this.#viewOf(this.#stored(id));
  }

  /** The secret is shown this once. Throws `too_many_webhooks` and `bad_url`. */
  async create({ secret, ...fields }: NewWebhook): Promise<WebhookView & { readonly secret: string }> {
    const { change, table } = this.#deps;
    const id = randomBytes(ID_BYTES).toString('hex');
    const url = this.#checked(unmaskedUrl(fields.url, null));
    const webhook = { id, ...fields, url, secret: secret ?? newSecret() };
    await change(() => table.create(webhook));
    this.reload();
    return { ...this.#viewOf(webhook), secret: webhook.secret };
  }

  /** Throws `not_found` and `bad_url`. */
  async change(
    id: string,
    changes: WebhookChanges,
  ): Promise<{ readonly before: Webhook; readonly after: Webhook }> {
    const changed = await this.#deps.change(() => {
      const before = this.#stored(id);
      const url =
        changes.url === undefined || changes.url === maskedUrl(before.url)
          ? before.url
          : this.#checked(unmaskedUrl(changes.url, before.url));
      const after = { ...before, ...changes, url };
      this.#deps.table.replace(after);
      return { before, after };
    });
    this.reload();
    return changed;
  }

  /** Throws `not_found`. */
  async remove(id: string): Promise<void> {
    const { change, table } = this.#deps;
    if (!(await change(() => table.remove(id)))) throw notFound(id);
    this.reload();
  }

  /** Another secret from now on, shown this once. Throws `not_found`. */
  async renewSecret(id: string): Promise<string> {
    const secret = newSecret();
    await this.change(id, { secret });
    return secret;
  }

  /** Sends a message at once, past all that waits. Throws `not_found` and `tests_busy`. */
  async test(id: string, signal: AbortSignal): Promise<PostOutcome> {
    const { clock } = this.#deps;
    const webhook = this.#stored(id);
    if (this.#runningTests >= MAX_TESTS)
      throw new AppError('tests_busy', 'too many tests run at once', { details: { retryAfterSec: 5 } });
    this.#runningTests++;
    try {
      const timestamp = new Date(clock.wallMs()).toISOString();
      const body = JSON.stringify({ type: 'test', timestamp, data: { webhook: webhook.name } });
      const message = { messageId: `test_${randomBytes(ID_BYTES).toString('hex')}`, body };
      return await post({ ...requestOf(webhook, message, clock.wallMs()), signal }, this.#deps);
    } finally {
      this.#runningTests--;
    }
  }

  /** Something happened. It is on the disk when this turn of the main thread ends. */
  tell(occurrence: Occurrence): void {
    for (const { webhook } of this.#receivers.values())
      if (webhook.enabled && isWanted(webhook, occurrence))
        this.#unwritten.push({ webhookId: webhook.id, occurrence });
    const tooMany = this.#unwritten.length - MAX_UNWRITTEN;
    if (tooMany > 0) {
      this.#unwritten.splice(0, tooMany);
      this.#countDropped(tooMany);
    }
    if (this.#unwritten.length > 0 && this.#writing === null) this.#writeSoon();
  }

  /** Looks again at who is to be told. */
  reload(): void {
    const { table, outbox } = this.#deps;
    const webhooks = new Map(table.list().map((webhook) => [webhook.id, webhook]));
    for (const [id, receiver] of this.#receivers) {
      if (webhooks.has(id)) continue;
      receiver.stop();
      this.#receivers.delete(id);
    }
    for (const id of outbox.known) if (!webhooks.has(id)) outbox.forget(id);
    for (const webhook of webhooks.values()) this.#take(webhook);
  }

  /** What is on its way is broken off, and comes again at the next start. */
  stop(): void {
    this.#sweeping.cancel();
    this.#writing?.cancel();
    while (this.#unwritten.length > 0 && this.#write());
    for (const receiver of this.#receivers.values()) receiver.stop();
    this.#deps.outbox.close();
  }

  #take(webhook: Webhook): void {
    const { outbox } = this.#deps;
    const receiver = this.#receivers.get(webhook.id) ?? this.#begin(webhook);
    receiver.change(webhook);
    // Whoever is switched on again begins with what happens then.
    if (!webhook.enabled && outbox.loadOf(webhook.id).count > 0) this.#countDropped(outbox.clear(webhook.id));
    receiver.kick();
  }

  #begin(webhook: Webhook): Receiver {
    const { clock, log, outbox, random = Math.random } = this.#deps;
    const receiver = new Receiver(webhook, {
      ...{ clock, log, outbox, random },
      queueMs: () => this.#queueMs(),
      send: (what) => post(what, this.#deps),
      onAttempt: (isDelivered) => {
        this.counts[isDelivered ? 'sent' : 'failed']++;
      },
      onGone: () => void this.#onGone(webhook.id),
    });
    this.#receivers.set(webhook.id, receiver);
    return receiver;
  }

  /** What waits is neither old nor early because somebody sets the host's clock. */
  #queueMs(): number {
    return this.#aheadMs + this.#deps.clock.monotonicMs();
  }

  async #onGone(id: string): Promise<void> {
    const { log } = this.#deps;
    try {
      await this.change(id, { enabled: false });
      log.warn('a webhook is switched off: its receiver wants nothing any more', { webhook: id });
    } catch (fault) {
      // It is asked again, and says so again.
      log.error('a webhook could not be switched off', { webhook: id, reason: String(fault) });
    }
  }

  #viewOf({ secret: _, ...webhook }: Webhook): WebhookView {
    const { outbox } = this.#deps;
    const { dropped, failures, last } = outbox.stateOf(webhook.id);
    return {
      ...{ ...webhook, url: maskedUrl(webhook.url) },
      ...{ waiting: outbox.loadOf(webhook.id).count, dropped, failures },
      last: last && {
        ...{ at: new Date(last.atMs).toISOString(), status: last.status, detail: last.detail },
        duration_ms: Math.round(last.durationMs),
      },
    };
  }

  #stored(id: string): Webhook {
    const webhook = this.#deps.table.find(id);
    if (webhook === null) throw notFound(id);
    return webhook;
  }

  #checked(url: string): string {
    const fault = literalFault(url, this.#deps);
    if (fault !== null) throw new AppError('bad_url', fault);
    return url;
  }

  #writeSoon(): void {
    let isCancelled = false;
    this.#writing = {
      cancel: () => {
        isCancelled = true;
      },
    };
    // All that happened in this turn in one transaction.
    queueMicrotask(() => {
      if (!isCancelled) this.#writeTurn();
    });
  }

  #writeTurn(): void {
    this.#writing = null;
    const isWritten = this.#write();
    if (this.#unwritten.length === 0) return;
    const delayMs = isWritten ? 0 : DISK_WAIT_MS;
    this.#writing = this.#deps.clock.after(delayMs, () => this.#writeTurn());
  }

  /** A bounded part of what happened; false: the disk didn't take it. */
  #write(): boolean {
    const { outbox, keepEvents } = this.#deps;
    keepEvents?.();
    const part = this.#unwritten.slice(0, MAX_A_TURN);
    const told = new Set<string>();
    let dropped = 0;
    const isWritten = outbox.together(() => {
      dropped = 0;
      for (const { webhookId, occurrence } of part) {
        const receiver = this.#receivers.get(webhookId);
        if (receiver === undefined || !receiver.webhook.enabled) continue;
        const message = { messageId: occurrence.messageId, wallMs: this.#queueMs() };
        const make = (sequence: number): string => bodyOf(occurrence, sequence);
        dropped += outbox.add(webhookId, message, make, receiver.busyId);
        told.add(webhookId);
      }
    });
    if (!isWritten) return false;
    this.#unwritten = this.#unwritten.slice(part.length);
    this.#countDropped(dropped);
    for (const id of told) this.#receivers.get(id)?.kick();
    return true;
  }

  /** What is too old is given up. */
  #sweep(): void {
    const { outbox } = this.#deps;
    for (const [id, receiver] of this.#receivers) {
      if (outbox.loadOf(id).count > 0)
        this.#countDropped(outbox.dropOld(id, this.#queueMs(), receiver.busyId));
      receiver.kick();
    }
    this.#tellDropped();
  }

  #countDropped(count: number): void {
    this.counts.dropped += count;
    this.#untold += count;
  }

  /** Once a minute at most. */
  #tellDropped(): void {
    if (this.#untold > 0) this.#deps.log.warn('messages to webhooks were given up', { count: this.#untold });
    this.#untold = 0;
  }
}

const notFound = (id: string): AppError => new AppError('not_found', `there is no webhook ${id}`);
