import { type JetStreamManager, jetstreamManager, type StoredMsg, type StreamInfo } from '@nats-io/jetstream';
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node';
import type { Clock } from '../base/clock.js';
import { AppError, messageOf } from '../base/errors.js';
import { clusterError } from './cluster-error.js';
import { keyName, keyOfName } from './key-names.js';
import type { LogEntry, LogRecord } from './log-entry.js';
import type { NatsLink } from './nats-link.js';
import { replicasAt, withReplicas } from './replicas.js';
import type { SealedText } from './sealed-text.js';
import { ToldChange, toldParts } from './told-change.js';

/** The log as it is now: another `created` is another log. */
export type LogState = { readonly created: string; readonly lastSequence: number };

export type SettingsLogDeps = {
  readonly clock: Clock;
  readonly link: NatsLink;
  readonly sealed: SealedText;
};

/** Those of a call; a leader that is lost is missing for 4 to 9 s, and nobody waits for that. */
const CALL_MS = 1_000;
const PAGE = 500;
/** What is on its way at once holds up the servers' answers to pings, on a thin link: a connection without is given up. */
const PAGE_BYTES = 65_536;
/** Where a server hasn't all of it yet, each page is asked for so often again: others may wait for this read. */
const MAX_ASKED_AGAIN = 4;
const ASK_AGAIN_MS = 100;
/** Ten thousand cameras are a tenth of it, so the rest is somebody else's: who reads without a bound dies of that. */
const MAX_ENTRIES = 100_000;
/** Longer ones are no record's. */
const MAX_SUBJECT = 1_024;
/** Where there are fewer servers than copies, more are wanted so often. */
const REPLICAS_EVERY_MS = 60_000;
/** A follower that said nothing for so long is away: it answers each second. */
const SILENT_NS = 5e9;

const ERROR = {
  tooFewServers: 10_005,
  streamNotFound: 10_059,
  wrongLastSequence: 10_071,
  wrongLastSequenceConstant: 10_164,
  batchTooLarge: 10_199,
} as const;

type Clients = { readonly connection: NatsConnection; readonly manager: JetStreamManager };

type Acknowledgement = {
  readonly seq?: number;
  readonly count?: number;
  readonly error?: { readonly err_code: number; readonly description: string };
};

/** Somebody else has written since: it is to be read, and thought about anew. */
export class StaleError extends Error {}

/** Without one the leader goes on for a while, and can keep nothing. */
const hasMajority = ({ config, cluster }: StreamInfo): boolean => {
  const followers = cluster?.replicas ?? [];
  const near = followers.filter(({ offline = false, active }) => !offline && active < SILENT_NS);
  return 2 * (1 + near.length) > config.num_replicas;
};

const codeOf = (fault: unknown): unknown => (fault as { code?: unknown }).code;

const isNothingThere = (fault: unknown): boolean => codeOf(fault) === 404;

/** Of a batch that is still coming only whoever waits sees the end. */
type Read = LogEntry & { readonly batchId: string; readonly isEnd: boolean };

/** What a value is sealed for: so nothing can be put into another's place, and nothing of old into a later one. */
const placeOf = (key: string, sequence: number, changeId: string): string => `${sequence} ${changeId} ${key}`;

const tooMany = (count: number): Error =>
  new Error(
    `its bucket has ${count} records, and more than ${MAX_ENTRIES} are not read: somebody else fills it. Delete it: a box fills it anew`,
  );

/** What is kept of a record that is gone. */
const NOTHING = '';

/**
 * What was configured as a key-value bucket of JetStream (the layout is that of NATS, so that its tools read the names). Each
 * change is one batch that is stored whole or not at all, and only if nothing was stored since `expected`: so all boxes make
 * their changes in one order, each knowing all before it. It is read by sequence, by calls that any server with a copy
 * answers: there is no consumer that could die with its server. Whatever others put there can be told from what boxes wrote.
 */
export class SettingsLog {
  readonly #stream: string;
  readonly #prefix: string;
  readonly #news: string;
  readonly #deps: SettingsLogDeps;
  readonly #told: ToldChange;
  #clients: Clients | null = null;
  #nextReplicasMs = Number.NEGATIVE_INFINITY;

  constructor(clusterName: string, deps: SettingsLogDeps) {
    const bucket = `framering-${clusterName}-settings`;
    this.#stream = `KV_${bucket}`;
    this.#prefix = `$KV.${bucket}.`;
    this.#news = `framering.${clusterName}.settings`;
    this.#deps = deps;
    this.#told = new ToldChange(deps.sealed);
  }

  /** Asks the leader, and makes the log where there is none. Throws `cluster_unavailable`. */
  async state(): Promise<LogState> {
    return this.#asked('asked', async ({ manager, connection }) => {
      const found = await this.#find(manager, connection);
      if (found.config.allow_atomic !== true)
        throw new Error('its servers are older than NATS 2.12, or its bucket was made by something else');
      if (!hasMajority(found)) throw new Error('a majority of its servers is away');
      if (found.state.messages > MAX_ENTRIES) throw tooMany(found.state.messages);
      return { created: found.created, lastSequence: found.state.last_seq };
    });
  }

  /**
   * All that was written since, in order, as far as it is there whole; what nobody with the key wrote into that place is
   * among it, without a text. Throws `cluster_unavailable`.
   */
  async readAfter(sequence: number): Promise<LogEntry[]> {
    const read = await this.#asked('read', async ({ manager }) => {
      const all: Read[] = [];
      let awaited = 0;
      let asked = 0;
      for (let from = sequence + 1; ; ) {
        const { page, pending } = await this.#page(manager, from, PAGE);
        // Each page may be another server's. Nothing is deleted, and a key has one message: behind a number there are never fewer.
        if (page.length + pending < awaited) {
          asked += 1;
          if (asked > MAX_ASKED_AGAIN)
            throw clusterError(
              'cluster_unavailable',
              "a server that was asked hasn't all of it yet: try again",
            );
          // Another one may answer that has it.
          if (asked > 1) await new Promise<void>((resolve) => this.#deps.clock.after(ASK_AGAIN_MS, resolve));
          continue;
        }
        asked = 0;
        awaited = pending;
        all.push(...page);
        if (all.length + pending > MAX_ENTRIES) throw tooMany(all.length + pending);
        if (pending === 0) return all;
        from = all.at(-1)!.sequence + 1;
      }
    });
    // The last batch may not be there to its end; what came after a batch says that it is.
    let end = read.length;
    const last = read.at(-1);
    if (last !== undefined && !last.isEnd) while (read[end - 1]?.batchId === last.batchId) end--;
    // Of what is written over just now neither is there.
    if (sequence === 0 && end < read.length)
      throw clusterError('cluster_unavailable', 'a change is being written: try again');
    return read.slice(0, end);
  }

  /** What stands at that number, or next after it. Throws `cluster_unavailable`. */
  async entryFrom(sequence: number): Promise<LogEntry | null> {
    return this.#asked(
      'read',
      async ({ manager }) => (await this.#page(manager, sequence, 1)).page[0] ?? null,
    );
  }

  /**
   * Writes all of these or nothing, and answers the sequence of the last. Throws StaleError, and `cluster_unavailable`: then
   * they may be written yet.
   */
  async append(records: readonly LogRecord[], expected: number, changeId: string): Promise<number> {
    return this.#asked('written', async ({ connection }) => {
      const maxBytes = connection.info?.max_payload ?? 0;
      // Before it is written: who looks in between reads all of it.
      const told = toldParts(this.#deps.sealed, { expected, changeId, records }, maxBytes);
      let sequence = 0;
      for (const [index, { key, text }] of records.entries()) {
        const isLast = index === records.length - 1;
        const head = headers();
        head.set('Nats-Batch-Id', changeId);
        head.set('Nats-Batch-Sequence', String(index + 1));
        if (index === 0) head.set('Nats-Expected-Last-Sequence', String(expected));
        if (isLast) head.set('Nats-Batch-Commit', '1');
        // For the servers' own tools.
        if (text === null) head.set('KV-Operation', 'DEL');
        // A batch is stored in one piece.
        const place = placeOf(key, expected + index + 1, changeId);
        const payload = this.#deps.sealed.seal(place, text ?? NOTHING);
        const subject = this.#prefix + keyName(key);
        if (index === 0 || isLast)
          sequence = await this.#request(connection, subject, payload, head, isLast ? records.length : null);
        else connection.publish(subject, payload, { headers: head });
      }
      for (const part of told) connection.publish(this.#news, part);
      return sequence;
    });
  }

  /** What another box told of the change behind that sequence, if it did: it needn't be read. Whether the log has it, that tells. */
  toldAfter(sequence: number): LogEntry[] | null {
    return this.#deps.link.connection === null ? null : this.#told.after(sequence);
  }

  /** Other boxes, and this one, have written something: calls back soon after, if the message isn't lost. */
  listen(connection: NatsConnection, onNews: () => void): void {
    connection.subscribe(this.#news, {
      callback: (fault, message) => {
        const isMoreToCome = fault === null && this.#told.take(message.data);
        if (!isMoreToCome) onNews();
      },
    });
  }

  /** The library's own batch tells of no reason why it was refused. */
  async #request(
    connection: NatsConnection,
    subject: string,
    payload: Uint8Array,
    head: MsgHdrs,
    count: number | null,
  ): Promise<number> {
    const answer = await connection.request(subject, payload, { headers: head, timeout: CALL_MS });
    if (answer.data.length === 0) return 0;
    const { error, seq = 0, count: stored } = answer.json<Acknowledgement>();
    const code = error?.err_code;
    if (code === ERROR.wrongLastSequence || code === ERROR.wrongLastSequenceConstant) throw new StaleError();
    if (code === ERROR.batchTooLarge)
      throw new Error(
        'its servers take no change of so many records at once: raise jetstream { limits { batch { max_msgs } } }',
      );
    if (error !== undefined) throw new Error(error.description);
    if (count !== null && stored !== count) throw new Error('the batch was not stored whole');
    return seq;
  }

  /** And how many come after it. */
  async #page(
    manager: JetStreamManager,
    from: number,
    count: number,
  ): Promise<{ readonly page: Read[]; readonly pending: number }> {
    const page: Read[] = [];
    let last: StoredMsg | null = null;
    const messages = await manager.direct.getBatch(this.#stream, {
      ...{ seq: from, batch: count, max_bytes: PAGE_BYTES },
    });
    // The library waits for 5 s and, where the connection ends meanwhile, for ever.
    const late = setTimeout(() => messages.stop(new Error('the servers say nothing')), CALL_MS);
    try {
      for await (const message of messages) {
        last = message;
        const { seq, subject, header, data } = message;
        const isKey = subject.startsWith(this.#prefix) && subject.length <= MAX_SUBJECT;
        const key = isKey ? keyOfName(subject.slice(this.#prefix.length)) : null;
        const batchId = header.get('Nats-Batch-Id');
        const isEnd = batchId === '' || header.get('Nats-Batch-Commit') !== '';
        const opened = key === null ? null : this.#opened(placeOf(key, seq, batchId), data);
        page.push({
          ...{ key: key ?? '', text: opened === NOTHING ? null : opened, sequence: seq },
          ...{ changeId: opened === null ? null : batchId, batchId, isEnd },
        });
        late.refresh();
      }
    } catch (fault) {
      if (!isNothingThere(fault)) throw fault;
    } finally {
      clearTimeout(late);
    }
    return { page, pending: last?.pending ?? 0 };
  }

  /** Null: by another key, or for another place. */
  #opened(place: string, data: Uint8Array): string | null {
    try {
      return this.#deps.sealed.open(place, data);
    } catch (thrown) {
      if (thrown instanceof AppError && thrown.code === 'cluster_key_wrong') return null;
      throw thrown;
    }
  }

  async #find(manager: JetStreamManager, connection: NatsConnection) {
    try {
      const found = await manager.streams.info(this.#stream);
      const nowMs = this.#deps.clock.monotonicMs();
      if (nowMs < this.#nextReplicasMs) return found;
      this.#nextReplicasMs = nowMs + REPLICAS_EVERY_MS;
      return await withReplicas({ manager, connection }, found);
    } catch (fault) {
      if (codeOf(fault) !== ERROR.streamNotFound) throw fault;
    }
    try {
      return await this.#make(manager, connection);
    } catch (fault) {
      if (codeOf(fault) !== ERROR.tooFewServers) throw fault;
      throw new Error('three of its servers must be there to make the bucket: it is kept in three copies');
    }
  }

  #make(manager: JetStreamManager, connection: NatsConnection) {
    return manager.streams.add({
      name: this.#stream,
      subjects: [`${this.#prefix}>`],
      num_replicas: replicasAt(connection),
      max_msgs_per_subject: 1,
      allow_direct: true,
      allow_atomic: true,
      deny_delete: true,
      // A sequence that is missing would look like one that is yet to come.
      deny_purge: true,
      discard: 'new',
    });
  }

  async #asked<T>(what: string, ask: (clients: Clients) => Promise<T>): Promise<T> {
    const { connection, fault } = this.#deps.link;
    if (connection === null)
      throw clusterError('cluster_unavailable', `the cluster can't be ${what}: ${fault ?? 'it is away'}`);
    if (this.#clients?.connection !== connection) {
      const manager = await jetstreamManager(connection, { timeout: CALL_MS, checkAPI: false });
      this.#clients = { connection, manager };
    }
    try {
      return await ask(this.#clients);
    } catch (thrown) {
      if (thrown instanceof AppError || thrown instanceof StaleError) throw thrown;
      const { message } = thrown as Error;
      const reason = message === '' ? (thrown as Error).name : messageOf(thrown);
      throw clusterError('cluster_unavailable', `the cluster can't be ${what}: ${reason}`, thrown);
    }
  }
}
