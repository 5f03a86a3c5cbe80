import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { MqttClient } from 'mqtt';
import type { BrokerAddress } from '../../base/broker-address.js';
import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import { GuardedSocket } from './guarded-socket.js';

export type Message = {
  readonly topic: string;
  readonly payload: string | Buffer;
  readonly qos: 0 | 1;
  readonly retain: boolean;
};

export type LinkOptions = {
  readonly address: BrokerAddress;
  /** Who alone may sign for it; null: those whom Node knows. */
  readonly ca: Buffer | null;
  readonly clientId: string;
  /** What the broker tells when the service is gone without a word. */
  readonly will: Omit<Message, 'payload'> & { readonly payload: string };
};

export type LinkEvents = {
  onUp(): void;
  /** Once, whether it was up or not; the reason has no secret. */
  onDown(reason: string): void;
  onMessage(topic: string, payload: Buffer, isRetained: boolean): void;
};

/** For all until the broker has taken who is asking. */
const CONNECT_MS = 15_000;
const KEEPALIVE_SEC = 30;
/** What is asked for is short; the longest is our own, come back. */
const MAX_INCOMING_BYTES = 65_536;
/** That the broker has it, and where we listen to its topic, the message itself. */
const ANSWERS_OF_A_MESSAGE = 2;
const END_MS = 500;

const openSocket = ({ isTls, host, port }: BrokerAddress, ca: Buffer | null): [Socket, ready: string] => {
  if (!isTls) return [connectTcp({ host, port, noDelay: true }), 'connect'];
  const servername = isIP(host) === 0 ? { servername: host } : {};
  return [connectTls({ host, port, ...servername, ...(ca && { ca }) }), 'secureConnect'];
};

/** One connection to the broker: from its first byte to its last. Whoever wants another one makes another one. */
export class Link {
  readonly #options: LinkOptions;
  readonly #events: LinkEvents;
  readonly #clock: Clock;
  readonly #deadline: Timer;
  readonly #socket: Socket;
  #stream: GuardedSocket | null = null;
  #client: MqttClient | null = null;
  #isUp = false;
  #isOver = false;

  constructor(options: LinkOptions, { clock, ...events }: LinkEvents & { readonly clock: Clock }) {
    this.#options = options;
    this.#events = events;
    this.#clock = clock;
    this.#deadline = clock.after(CONNECT_MS, () => this.break('the broker did not answer in time'));
    const [socket, ready] = openSocket(options.address, options.ca);
    this.#socket = socket;
    socket.on('error', (fault) => this.break(messageOf(fault)));
    socket.on('close', () => this.break('the broker closed the connection'));
    // The library is loaded where there is a broker, and told of a connection whose certificate was found good.
    socket.once(ready, () => void this.#introduce());
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** `onDone`: the broker has it (QoS 1), or it is on its way (QoS 0); never called where the link breaks before. */
  publish({ topic, payload, qos, retain }: Message, onDone: () => void): void {
    if (!this.#isUp) return;
    this.#stream?.expect(ANSWERS_OF_A_MESSAGE);
    this.#client?.publish(topic, payload, { qos, retain }, (fault) => {
      if (this.#isOver) return;
      if (fault) this.break(messageOf(fault));
      else onDone();
    });
  }

  /** `onDone`: what is retained there comes from now on. */
  subscribe(topics: readonly string[], onDone: () => void = () => {}): void {
    if (this.#isUp)
      this.#client?.subscribe([...topics], { qos: 0 }, (fault) => {
        if (!fault && !this.#isOver) onDone();
      });
  }

  unsubscribe(topics: readonly string[]): void {
    if (this.#isUp) this.#client?.unsubscribe([...topics], () => {});
  }

  /** Takes leave, so that the broker doesn't speak for us; in bounded time. */
  async end(): Promise<void> {
    const client = this.#client;
    if (client !== null && this.#isUp && !this.#isOver) {
      this.#isUp = false;
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, END_MS);
        client.end(false, {}, () => {
          clearTimeout(late);
          resolve();
        });
      });
    }
    this.#isOver = true;
    this.#close();
  }

  /** Over, without a word: the broker tells its will. */
  break(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#isUp = false;
    this.#close();
    this.#events.onDown(reason);
  }

  #close(): void {
    this.#deadline.cancel();
    this.#socket.destroy();
    this.#client?.end(true);
  }

  async #introduce(): Promise<void> {
    const { MqttClient } = await import('mqtt');
    if (this.#isOver) return;
    const { address, clientId, will } = this.#options;
    const { username, password } = address;
    const stream = new GuardedSocket(this.#socket, MAX_INCOMING_BYTES, this.#clock);
    this.#stream = stream;
    // The library says nothing of faults that have no code.
    stream.on('error', (fault) => this.break(messageOf(fault)));
    const client = new MqttClient(() => stream, {
      ...{ clientId, clean: true, protocolVersion: 4, keepalive: KEEPALIVE_SEC },
      ...{ reconnectPeriod: 0, connectTimeout: CONNECT_MS, queueQoSZero: false, timerVariant: 'native' },
      // Its own log shows all that it is given.
      log: () => {},
      will: { ...will, payload: Buffer.from(will.payload) },
      ...(username === null ? {} : { username }),
      ...(password === null ? {} : { password }),
    });
    this.#client = client;
    client.on('error', (fault) => this.break(messageOf(fault)));
    client.on('close', () => this.break('the broker closed the connection'));
    client.on('message', (topic, payload, { retain }) => {
      if (this.#isUp) this.#events.onMessage(topic, payload, retain);
    });
    client.on('connect', () => {
      if (this.#isOver) return;
      this.#deadline.cancel();
      this.#isUp = true;
      this.#events.onUp();
    });
  }
}
