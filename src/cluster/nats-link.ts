import {
  type ConnectionOptions,
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  nkeyAuthenticator,
} from '@nats-io/transport-node';
import type { Clock, Timer } from '../base/clock.js';
import type { ClusterAddress } from '../base/cluster-address.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { Signal } from '../base/signal.js';

export type NatsLinkOptions = {
  readonly address: ClusterAddress;
  /** Who alone may sign for the servers; null: those whom Node knows. */
  readonly ca: Buffer | null;
  /** Null: they are asked as nobody. */
  readonly login: { readonly kind: 'creds' | 'nkey'; readonly secret: Buffer } | null;
  readonly boxName: string;
};

export type NatsLinkDeps = { readonly clock: Clock; readonly log: Logger };

const RETRY_MS = 1_000;
const CONNECT_MS = 1_000;
/** The client looks for another server by itself, as of the wall clock: where that was set back it waits for it to come round. */
const ANEW_AFTER_MS = 2_000;

const connectionOptions = ({ address, ca, login, boxName }: NatsLinkOptions): ConnectionOptions => ({
  servers: [...address.servers],
  name: boxName,
  // For ever: the client gives up after ten attempts otherwise, or when it was refused twice.
  maxReconnectAttempts: -1,
  ignoreAuthErrorAbort: true,
  reconnectTimeWait: 100,
  // A server that is frozen is left within 1.2 s.
  pingInterval: 300,
  maxPingOut: 2,
  timeout: CONNECT_MS,
  // Where each request was made from, at some microseconds each.
  noAsyncTraces: true,
  ...(address.isTls && { tls: ca === null ? {} : { ca: ca.toString() } }),
  ...(login && {
    authenticator:
      login.kind === 'creds' ? credsAuthenticator(login.secret) : nkeyAuthenticator(login.secret),
  }),
});

const reasonOf = (fault: unknown): string =>
  fault instanceof errors.TimeoutError ? `no answer within ${CONNECT_MS / 1_000} s` : messageOf(fault);

/** The connection to whichever of the servers answers, for as long as the service runs. */
export class NatsLink {
  /** There is a connection again: what was sent before may be lost. */
  readonly up = new Signal<[]>();
  readonly #options: ConnectionOptions;
  readonly #deps: NatsLinkDeps;
  #connection: NatsConnection | null = null;
  #isUp = false;
  #fault: string | null = 'not connected yet';
  #retry: Timer | null = null;
  #anew: Timer | null = null;
  #isStopped = false;

  constructor(options: NatsLinkOptions, deps: NatsLinkDeps) {
    this.#options = connectionOptions(options);
    this.#deps = deps;
    void this.#connect();
  }

  /** Null while no server answers. */
  get connection(): NatsConnection | null {
    return this.#isUp ? this.#connection : null;
  }

  /** Why there is none. */
  get fault(): string | null {
    return this.#fault;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#retry?.cancel();
    this.#anew?.cancel();
    this.#isUp = false;
    await this.#connection?.close();
  }

  async #connect(): Promise<void> {
    try {
      const connection = await connect(this.#options);
      if (this.#isStopped) return await connection.close();
      this.#connection = connection;
      void this.#watch(connection);
      this.#begin(connection);
    } catch (fault) {
      this.#lose(reasonOf(fault));
      this.#again();
    }
  }

  #again(): void {
    if (!this.#isStopped) this.#retry = this.#deps.clock.after(RETRY_MS, () => void this.#connect());
  }

  async #watch(connection: NatsConnection): Promise<void> {
    for await (const status of connection.status()) {
      if (status.type === 'disconnect') this.#onDisconnect(connection);
      else if (status.type === 'reconnect') this.#begin(connection);
      // What isn't allowed shows itself here alone.
      else if (status.type === 'error')
        this.#deps.log.warn('a server of the cluster refuses something', { reason: messageOf(status.error) });
    }
    if (this.#isStopped) return;
    this.#lose('the connection was closed');
    this.#again();
  }

  #onDisconnect(connection: NatsConnection): void {
    this.#lose('no server answers');
    if (this.#isStopped) return;
    this.#anew ??= this.#deps.clock.after(ANEW_AFTER_MS, () => {
      this.#anew = null;
      void connection.close();
    });
  }

  #begin(connection: NatsConnection): void {
    this.#anew?.cancel();
    this.#anew = null;
    this.#isUp = true;
    this.#fault = null;
    this.#deps.log.info('connected to the cluster', { server: connection.getServer() });
    this.up.emit();
  }

  #lose(reason: string): void {
    if (this.#isStopped) return;
    const isNews = this.#isUp || this.#fault !== reason;
    this.#isUp = false;
    this.#fault = reason;
    if (isNews) this.#deps.log.warn('no server of the cluster can be reached', { reason });
  }
}
