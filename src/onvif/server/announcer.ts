import { randomInt, randomUUID } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { DEVICE_PATH } from '../device-address.js';
import { byeXml, helloXml, matchXml, readProbe, type Speaker } from './announcements.js';
import { isIn, networksOfHost, type OwnNetwork } from './networks.js';

/** WS-Discovery §2.4. */
const GROUP = '239.255.255.250';
const PORT = 3_702;
/** So that not all devices answer at once (SOAP-over-UDP §3.4). */
const MAX_DELAY_MS = 500;
const LOOK_EVERY_MS = 30_000;
/** Answers are larger than questions: a sender gets a few, and all together no more than a small network asks for. */
const RATE_WINDOW_MS = 10_000;
const MAX_ANSWERS_OF_ONE = 60;
const MAX_ANSWERS = 200;

export type AnnouncerOptions = {
  /** Where the service listens: it is announced there. */
  readonly host: string;
  readonly uuid: string;
  /** Of the service at one of this machine's addresses. */
  readonly urlAt: (address: string) => string;
};

/** Says something to all of one network; what can't be said there is left. */
const sayIn = (network: OwnNetwork, text: string): Promise<void> =>
  new Promise((resolve) => {
    const socket = createSocket('udp4');
    let isDone = false;
    const done = (): void => {
      if (isDone) return;
      isDone = true;
      socket.close(() => resolve());
    };
    socket.on('error', done);
    socket.bind({ address: network.address, port: 0 }, () => {
      try {
        socket.setMulticastInterface(network.address);
        socket.setMulticastTTL(1);
        socket.send(text, PORT, GROUP, done);
      } catch {
        done();
      }
    });
  });

/**
 * Tells who searches the network that the service is there (WS-Discovery). Only whoever is in one of the service's own
 * networks is answered, and nobody often: a question with another's address in it brings that one little.
 */
export class Announcer {
  readonly #options: AnnouncerOptions;
  readonly #deps: { readonly clock: Clock; readonly log: Logger };
  readonly #socket: Socket = createSocket({ type: 'udp4', reuseAddr: true });
  readonly #joined = new Set<string>();
  readonly #waiting = new Set<Timer>();
  readonly #startedSec: number;
  readonly #looks: Timer;
  #networks: readonly OwnNetwork[] = [];
  #answersOf = new Map<string, number>();
  #answers = 0;
  #windowFromMs = 0;
  #messages = 0;

  private constructor(options: AnnouncerOptions, deps: { clock: Clock; log: Logger }) {
    this.#options = options;
    this.#deps = deps;
    this.#startedSec = Math.floor(deps.clock.wallMs() / 1_000);
    this.#socket.on('message', (bytes, { address, port }) => this.#take(bytes, address, port));
    this.#socket.on('error', (fault) => this.#tell(fault));
    this.#looks = deps.clock.every(LOOK_EVERY_MS, () => this.#join());
  }

  /** Null where the port is another's: the service is there all the same, for whoever knows its address. */
  static async start(
    options: AnnouncerOptions,
    deps: { clock: Clock; log: Logger },
  ): Promise<Announcer | null> {
    const announcer = new Announcer(options, deps);
    try {
      await new Promise<void>((resolve, reject) => {
        announcer.#socket.once('error', reject);
        announcer.#socket.bind(PORT, '0.0.0.0', () => {
          announcer.#socket.off('error', reject);
          resolve();
        });
      });
    } catch (fault) {
      announcer.#looks.cancel();
      announcer.#socket.close();
      deps.log.warn('the service is not announced by ONVIF', { port: PORT, reason: messageOf(fault) });
      return null;
    }
    announcer.#join();
    return announcer;
  }

  /** Says goodbye. */
  async stop(): Promise<void> {
    this.#looks.cancel();
    for (const timer of this.#waiting) timer.cancel();
    await Promise.all(this.#networks.map((network) => sayIn(network, byeXml(this.#speaker(), randomUUID()))));
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }

  /** Networks come and go: those that are new are told, too. */
  #join(): void {
    this.#networks = networksOfHost(this.#options.host);
    const addresses = new Set(this.#networks.map(({ address }) => address));
    for (const gone of this.#joined) if (!addresses.has(gone)) this.#joined.delete(gone);
    for (const network of this.#networks) {
      const { address } = network;
      if (this.#joined.has(address)) continue;
      try {
        this.#socket.addMembership(GROUP, address);
        this.#joined.add(address);
        void sayIn(network, helloXml(this.#speaker(), randomUUID(), this.#addressAt(address)));
      } catch (fault) {
        this.#tell(fault);
      }
    }
  }

  #take(bytes: Buffer, sender: string, port: number): void {
    const network = this.#networks.find((own) => isIn(own, sender));
    if (network === undefined || !this.#mayAnswer(sender)) return;
    const relatesTo = readProbe(bytes);
    if (relatesTo === null) return;
    const timer = this.#deps.clock.after(randomInt(MAX_DELAY_MS), () => {
      this.#waiting.delete(timer);
      const answer = matchXml(this.#speaker(), randomUUID(), relatesTo, this.#addressAt(network.address));
      this.#socket.send(answer, port, sender, (fault) => {
        if (fault !== null) this.#tell(fault);
      });
    });
    this.#waiting.add(timer);
  }

  /** Counts whatever is sent to us: what can't be read costs time, too. */
  #mayAnswer(sender: string): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    if (nowMs - this.#windowFromMs >= RATE_WINDOW_MS) {
      this.#windowFromMs = nowMs;
      this.#answers = 0;
      this.#answersOf = new Map();
    }
    const before = this.#answersOf.get(sender) ?? 0;
    if (this.#answers >= MAX_ANSWERS || before >= MAX_ANSWERS_OF_ONE) return false;
    this.#answers += 1;
    this.#answersOf.set(sender, before + 1);
    return true;
  }

  #speaker(): Speaker {
    this.#messages += 1;
    return {
      uuid: this.#options.uuid,
      startedSec: this.#startedSec,
      messageNumber: this.#messages,
    };
  }

  #addressAt(address: string): string {
    return `${this.#options.urlAt(address)}${DEVICE_PATH}`;
  }

  #tell(fault: unknown): void {
    this.#deps.log.debug('a message of WS-Discovery was not sent', { reason: messageOf(fault) });
  }
}
