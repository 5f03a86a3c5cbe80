import { type JetStreamManager, jetstreamManager } from '@nats-io/jetstream';
import { headers, type NatsConnection } from '@nats-io/transport-node';
import { keyName } from '../key-names.js';
import type { NatsLink } from '../nats-link.js';
import { replicasAt, withReplicas } from '../replicas.js';
import type { SealedText } from '../sealed-text.js';

export type Claim = { readonly box: string; readonly boot: string; readonly epoch: number };

export type ClaimsDeps = { readonly link: NatsLink; readonly sealed: SealedText };

const CALL_MS = 1_000;

const ERROR = { messageNotFound: 10_037, streamNotFound: 10_059 } as const;
/** By what the leader has, and by what it is about to. */
const WRONG_LAST_SEQUENCE: readonly number[] = [10_071, 10_164];

type Clients = { readonly connection: NatsConnection; readonly manager: JetStreamManager };

type Acknowledgement = { readonly error?: { readonly err_code: number; readonly description: string } };

type Found = { readonly epoch: number; readonly sequence: number };

const codeOf = (fault: unknown): unknown => (fault as { code?: unknown }).code;

/**
 * Who has which camera, as a key-value bucket of JetStream. Each claim is one higher than the last, whoever made that:
 * where two boxes had a camera at the same time it is known whose recording counts. It is no lock.
 */
export class Claims {
  readonly #stream: string;
  readonly #prefix: string;
  readonly #deps: ClaimsDeps;
  #clients: Clients | null = null;

  constructor(clusterName: string, deps: ClaimsDeps) {
    const bucket = `framering-${clusterName}-owners`;
    this.#stream = `KV_${bucket}`;
    this.#prefix = `$KV.${bucket}.`;
    this.#deps = deps;
  }

  /**
   * Answers the epoch: one more than the bucket has, and no less than `atLeast`, as servers may have lost what they had. Null:
   * another box was first, and it is to be tried again. Throws where the servers are away.
   */
  async claim(cameraId: string, by: Omit<Claim, 'epoch'>, atLeast: number): Promise<number | null> {
    try {
      return await this.#claim(`owner/${cameraId}`, by, atLeast);
    } catch (fault) {
      // Perhaps the bucket is gone.
      this.#clients = null;
      throw fault;
    }
  }

  async #claim(key: string, { box, boot }: Omit<Claim, 'epoch'>, atLeast: number): Promise<number | null> {
    const { connection, manager } = await this.#open();
    const subject = this.#prefix + keyName(key);
    const before = await this.#find(manager, subject, key);
    const epoch = Math.max(before.epoch + 1, atLeast);
    const head = headers();
    head.set('Nats-Expected-Last-Subject-Sequence', String(before.sequence));
    const claim: Claim = { box, boot, epoch };
    const payload = this.#deps.sealed.seal(key, JSON.stringify(claim));
    const answer = await connection.request(subject, payload, { headers: head, timeout: CALL_MS });
    const { error } = answer.json<Acknowledgement>();
    if (error !== undefined && WRONG_LAST_SEQUENCE.includes(error.err_code)) return null;
    if (error !== undefined) throw new Error(error.description);
    return epoch;
  }

  async #find(manager: JetStreamManager, subject: string, key: string): Promise<Found> {
    try {
      const message = await manager.direct.getMessage(this.#stream, { last_by_subj: subject });
      if (message === null) return { epoch: 0, sequence: 0 };
      return { epoch: this.#epochIn(key, message.data), sequence: message.seq };
    } catch (fault) {
      if (codeOf(fault) === 404 || codeOf(fault) === ERROR.messageNotFound) return { epoch: 0, sequence: 0 };
      throw fault;
    }
  }

  /** What isn't a claim of this cluster, or was sealed by another key, is written over. */
  #epochIn(key: string, data: Uint8Array): number {
    try {
      const { epoch } = JSON.parse(this.#deps.sealed.open(key, data)) as Partial<Claim>;
      return Number.isSafeInteger(epoch) && epoch! >= 0 ? epoch! : 0;
    } catch {
      return 0;
    }
  }

  /** Throws where there are no servers. The bucket is made where there is none. */
  async #open(): Promise<Clients> {
    const { connection, fault } = this.#deps.link;
    if (connection === null) throw new Error(fault ?? 'the servers are away');
    if (this.#clients?.connection === connection) return this.#clients;
    const manager = await jetstreamManager(connection, { timeout: CALL_MS, checkAPI: false });
    try {
      await withReplicas({ manager, connection }, await manager.streams.info(this.#stream));
    } catch (thrown) {
      if (codeOf(thrown) !== ERROR.streamNotFound) throw thrown;
      await manager.streams.add({
        name: this.#stream,
        subjects: [`${this.#prefix}>`],
        num_replicas: replicasAt(connection),
        max_msgs_per_subject: 1,
        allow_direct: true,
      });
    }
    this.#clients = { connection, manager };
    return this.#clients;
  }
}
