import { createServer, type Server, type TLSSocket } from 'node:tls';
import type { Clock, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { Bells } from '../../ring/bells.js';
import type { AskAnswer, FromRelayThread, RelayThreadOptions, ToRelayThread } from '../messages.js';
import { ASKING, serverTls } from '../shared-key-tls.js';
import { type Ask, seenFields } from '../wire/texts.js';
import { textMessage } from '../wire/write.js';
import { Asked } from './asked.js';
import { Outgoing, type SentFeed } from './outgoing.js';
import { Rest } from './rest.js';
import { Staging } from './staging.js';
import { Strangers } from './strangers.js';

export type RelayServerDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly send: (message: FromRelayThread) => void;
};

type Sent = { readonly pulls: Set<Outgoing>; feed: SentFeed | null };

const TICK_MS = 1_000;
const HANDSHAKE_TIMEOUT_MS = 5_000;
/** A host that vanished sends no end. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelay: 10_000 } as const;
/** Of all boxes together, those included that have not said yet who they are. */
const MAX_LINKS = 20_000;
/** Of these those that ask; and what of answers waits for slow ones. */
const MAX_ASKING = 512;
const MAX_WAITING_BYTES = 64 << 20;

const tooMuch: AskAnswer = {
  fault: { code: 'relay_busy', message: 'too much is on its way to other boxes' },
  ...{ content: {}, bytes: null },
};

const notMeant = (box: string, to: string): AskAnswer => ({
  fault: {
    code: 'relay_wrong_box',
    message: `that is ${box}, and not ${to}: each needs a BOX_ADDRESS of its own`,
  },
  ...{ content: {}, bytes: null },
});

/** What sends this box's frames to others: a plain class; the thread around it is workers/relay.ts. */
export class RelayServer {
  readonly #options: RelayThreadOptions;
  readonly #deps: RelayServerDeps;
  readonly #server: Server;
  readonly #staging = new Staging();
  readonly #bells = new Bells();
  readonly #rest: Rest;
  readonly #strangers: Strangers;
  /** One object for each bell, however often it was told of. */
  readonly #bellsById = new Map<number, SharedArrayBuffer>();
  readonly #links = new Set<Outgoing>();
  readonly #asking = new Set<Asked>();
  /** Who asked what is yet to be answered. */
  readonly #questions = new Map<number, Asked>();
  #nextQuestion = 1;
  readonly #sent = new Map<string, Sent>();
  readonly #ticker: Timer;
  /** Of pulls that have ended. */
  #past = { bytes: 0, droppedFrames: 0 };

  constructor(options: RelayThreadOptions, deps: RelayServerDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#rest = new Rest(deps.clock);
    this.#strangers = new Strangers(deps);
    const tls = { ...serverTls(Buffer.from(options.key)), handshakeTimeout: HANDSHAKE_TIMEOUT_MS };
    this.#server = createServer({ ...tls, ...KEEP_ALIVE }, (socket) => {
      this.#strangers.remove(socket);
      this.#onLink(socket);
    });
    this.#server.maxConnections = MAX_LINKS;
    this.#server.on('connection', (socket) => this.#strangers.add(socket));
    // Of one that says nothing, too: nobody else ends it.
    this.#server.on('tlsClientError', (error, socket) => this.#strangers.refuse(socket, error.message));
    this.#server.on('error', ({ message, code = '' }: NodeJS.ErrnoException) => {
      // One that couldn't be accepted later, for want of files, comes again.
      if (!this.#server.listening) deps.send({ type: 'failed', code, message });
    });
    this.#ticker = deps.clock.every(TICK_MS, () => this.#tick());
  }

  listen(): void {
    const { host, port } = this.#options;
    this.#server.listen({ host, port }, () => {
      const address = this.#server.address();
      if (address !== null && typeof address === 'object')
        this.#deps.send({ type: 'listening', port: address.port });
    });
  }

  handle(message: Exclude<ToRelayThread, { type: 'stop' }>): void {
    if (message.type === 'answer') {
      this.#questions.get(message.id)?.answer(this.#hasRoomFor(message.answer) ? message.answer : tooMuch);
      this.#questions.delete(message.id);
      return;
    }
    const sent = this.#sent.get(message.source);
    if (sent === undefined) return;
    if (message.type === 'gone') {
      for (const pull of [...sent.pulls]) pull.end('there is no such camera');
      return;
    }
    if (message.type === 'seen') {
      const text = textMessage('detection', seenFields(message.seen));
      for (const pull of sent.pulls) pull.tell(text);
      return;
    }
    const { ring, path, bellId } = message;
    const bell = this.#bellsById.get(bellId) ?? message.bell;
    this.#bellsById.set(bellId, bell);
    sent.feed = { ring, bell, path };
    for (const pull of [...sent.pulls]) pull.onFeed(sent.feed);
  }

  stop(): void {
    this.#ticker.cancel();
    this.#server.close();
    for (const link of [...this.#links]) link.end('the box stops');
    for (const asked of [...this.#asking]) asked.end();
  }

  #tick(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#strangers.tick(nowMs);
    for (const link of [...this.#links]) link.tick(nowMs);
    for (const asked of [...this.#asking]) asked.tick(nowMs);
    let { bytes, droppedFrames } = this.#past;
    let pulls = 0;
    let lagMs = 0;
    for (const link of this.#links) {
      if (link.source !== null) pulls += 1;
      bytes += link.sentBytes;
      droppedFrames += link.droppedFrames;
      lagMs = Math.max(lagMs, link.lagMs(nowMs));
    }
    this.#deps.send({ type: 'figures', figures: { pulls, bytes, droppedFrames, lagMs } });
  }

  #onLink(socket: TLSSocket): void {
    const { clock, log } = this.#deps;
    if (socket.alpnProtocol === ASKING) {
      this.#onAsking(socket);
      return;
    }
    const link = new Outgoing(socket, {
      ...{ clock, log, box: this.#options.box },
      ...{ staging: this.#staging, bells: this.#bells, rest: this.#rest },
      onWish: (outgoing, source) => this.#onWish(outgoing, source),
      onEnded: (outgoing) => this.#onEnded(outgoing),
    });
    this.#links.add(link);
  }

  #hasRoomFor({ bytes }: AskAnswer): boolean {
    if (bytes === null) return true;
    let waitingBytes = bytes.length;
    for (const asked of this.#asking) waitingBytes += asked.waitingBytes;
    return waitingBytes <= MAX_WAITING_BYTES;
  }

  #onAsking(socket: TLSSocket): void {
    const { clock, log } = this.#deps;
    if (this.#asking.size >= MAX_ASKING) {
      socket.destroy();
      return;
    }
    const asked = new Asked(socket, {
      ...{ clock, log },
      onAsk: (by, ask) => this.#onAsk(by, ask),
      onEnded: (by) => this.#onAskingEnded(by),
    });
    this.#asking.add(asked);
  }

  #onAsk(asked: Asked, { box, to, question }: Ask): void {
    if (to !== null && to !== this.#options.box) {
      asked.answer(notMeant(this.#options.box, to));
      return;
    }
    const id = this.#nextQuestion++;
    this.#questions.set(id, asked);
    this.#deps.send({ type: 'asked', id, box, question });
  }

  #onAskingEnded(asked: Asked): void {
    this.#asking.delete(asked);
    for (const [id, by] of this.#questions) if (by === asked) this.#questions.delete(id);
  }

  #onWish(outgoing: Outgoing, source: string): void {
    const known = this.#sent.get(source);
    const sent = known ?? { pulls: new Set(), feed: null };
    sent.pulls.add(outgoing);
    this.#sent.set(source, sent);
    if (known === undefined) this.#deps.send({ type: 'wanted', source, isWanted: true });
    else if (known.feed !== null) outgoing.onFeed(known.feed);
  }

  #onEnded(outgoing: Outgoing): void {
    this.#links.delete(outgoing);
    this.#past.bytes += outgoing.sentBytes;
    this.#past.droppedFrames += outgoing.droppedFrames;
    const { source } = outgoing;
    const sent = source === null ? undefined : this.#sent.get(source);
    if (source === null || sent === undefined) return;
    sent.pulls.delete(outgoing);
    if (sent.pulls.size > 0) return;
    this.#sent.delete(source);
    this.#deps.send({ type: 'wanted', source, isWanted: false });
  }
}
