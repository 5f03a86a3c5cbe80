import type { TLSSocket } from 'node:tls';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { Bells } from '../../ring/bells.js';
import { frameFlag } from '../../ring/frame-flag.js';
import { ringIdOf } from '../../ring/glance.js';
import { RingReader } from '../../ring/reader.js';
import { sourceFields } from '../../ring/source-key.js';
import { relayError } from '../relay-error.js';
import { BEFORE_FRAME_BYTES, MIN_VERSION, type TextType, VERSION } from '../wire/format.js';
import { type WireHandler, WireReader } from '../wire/reader.js';
import { describedFields, readHello } from '../wire/texts.js';
import { aliveMessage, textMessage, writeFrameHead } from '../wire/write.js';
import { LinkLag } from './link-lag.js';
import type { Rest } from './rest.js';
import type { Staging } from './staging.js';

/** Where a source's frames are, and by which boxes they come here; null: that isn't known yet. */
export type SentFeed = {
  readonly ring: SharedArrayBuffer;
  readonly bell: SharedArrayBuffer;
  readonly path: readonly string[] | null;
};

export type OutgoingDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly box: string;
  readonly staging: Staging;
  readonly bells: Bells;
  readonly rest: Rest;
  /** It has said what it wants. */
  readonly onWish: (outgoing: Outgoing, source: string) => void;
  /** Once. */
  readonly onEnded: (outgoing: Outgoing) => void;
};

/** So much is written at once: what a link has no room for stays in the ring, where newer frames may overtake it. */
const FLUSH_BYTES = 256 << 10;
/** Who hasn't read for so long what was sent gets no more until it has. */
const MAX_UNSEEN_MS = 1_500;
/** Frames that have waited for so long are passed over up to the newest keyframe. */
const MAX_WAIT_MS = 1_000;
const ALIVE_EVERY_MS = 1_000;
/** Whoever pulls says twice a second how far it has read; and at first what it wants. */
const SILENT_AFTER_MS = 10_000;
const HELLO_WITHIN_MS = 5_000;
const END_WITHIN_MS = 2_000;
/** What is seen in pictures waits for the link as they do; of more the oldest is left out. */
const MAX_TEXTS = 8;

const alive = aliveMessage();

/** One box that pulls one source: a reader of its ring like any other, which drops to a keyframe where the link is slow. */
export class Outgoing implements WireHandler {
  readonly #socket: TLSSocket;
  readonly #deps: OutgoingDeps;
  readonly #wire = new WireReader('puller', this);
  readonly #lag = new LinkLag();
  #source: string | null = null;
  /** The box that asks. */
  #asker = '';
  #ring: SharedArrayBuffer | null = null;
  #bell: SharedArrayBuffer | null = null;
  #reader: RingReader | null = null;
  #unlisten: () => void = () => {};
  /** By which boxes the frames come, as it was told; null: it wasn't welcomed yet. */
  #path: string | null = null;
  #ringId = 0;
  #toldVersion = 0;
  #toldAwaitsSound = false;
  /** What the socket hasn't taken yet. */
  #writes = 0;
  /** What is to be said with the next frames. */
  readonly #texts: Buffer[] = [];
  #isEnded = false;
  #sentMs: MonotonicMs;
  #heardMs: MonotonicMs;
  readonly #openedMs: MonotonicMs;

  constructor(socket: TLSSocket, deps: OutgoingDeps) {
    this.#socket = socket;
    this.#deps = deps;
    this.#openedMs = deps.clock.monotonicMs();
    this.#heardMs = this.#openedMs;
    this.#sentMs = this.#openedMs;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#onData(chunk));
    socket.on('error', (error) => this.#close(error.message));
    socket.on('close', () => this.#close('the connection was closed'));
  }

  /** Null: it has not said yet what it wants. */
  get source(): string | null {
    return this.#source;
  }

  get sentBytes(): number {
    return this.#lag.sentBytes;
  }

  get droppedFrames(): number {
    return this.#reader?.droppedFrames ?? 0;
  }

  lagMs(nowMs: MonotonicMs): number {
    return this.#lag.lagMs(nowMs);
  }

  onText(type: TextType, text: string): void {
    if (type !== 'hello' || this.#source !== null)
      throw relayError('relay_protocol', 'it says what it has no reason to say');
    const { versions, box, source } = readHello(text);
    this.#asker = box;
    this.#source = source;
    if (versions[0] > VERSION || versions[1] < MIN_VERSION) {
      this.end(`it speaks versions ${versions.join(' to ')}, and this box ${MIN_VERSION} to ${VERSION}`);
      return;
    }
    this.#deps.log.info('another box pulls a camera', { ...sourceFields(source), to: box });
    this.#deps.onWish(this, source);
  }

  onSeen(seenBytes: number): void {
    if (!this.#lag.onSeen(seenBytes)) throw relayError('relay_protocol', 'it has read what was not sent');
    this.#pump();
  }

  onFrame(): void {
    throw relayError('relay_protocol', 'it sends frames');
  }

  onBytes(): void {}

  onFrameEnd(): void {}

  onFeed({ ring, bell, path }: SentFeed): void {
    if (this.#isEnded) return;
    const shown = path?.join(' ') ?? null;
    if (this.#path !== null && shown !== this.#path) {
      // Whoever has frames of us is to look anew whether these are its own.
      this.end('its frames come by other boxes now');
      return;
    }
    this.#moveTo(ring);
    if (bell !== this.#bell) {
      this.#bell = bell;
      this.#unlisten();
      this.#unlisten = this.#deps.bells.listen(bell, this.#pump);
    }
    if (path === null || shown === null || this.#path !== null) return;
    this.#path = shown;
    const version = VERSION;
    this.#write(textMessage('welcome', { version, path: [...path, this.#deps.box] }));
  }

  /** Every second. */
  tick(nowMs: MonotonicMs): void {
    if (this.#isEnded) return;
    if (
      this.#source === null
        ? nowMs - this.#openedMs > HELLO_WITHIN_MS
        : nowMs - this.#heardMs > SILENT_AFTER_MS
    )
      this.#close('it says nothing');
    else if (nowMs - this.#sentMs >= ALIVE_EVERY_MS && this.#writes === 0) this.#write(alive);
    this.#pump();
  }

  /** Says it when the link has room for it. */
  tell(text: Buffer): void {
    if (this.#texts.push(text) > MAX_TEXTS) this.#texts.shift();
    this.#pump();
  }

  end(reason: string): void {
    if (this.#isEnded) return;
    const socket = this.#socket;
    socket.end(textMessage('end', { reason }));
    socket.setTimeout(END_WITHIN_MS, () => socket.destroy());
    this.#forget(reason);
  }

  #moveTo(ring: SharedArrayBuffer): void {
    if (ring === this.#ring) return;
    this.#ring = ring;
    const ringId = ringIdOf(ring);
    if (ringId !== this.#ringId) this.#toldVersion = 0;
    this.#ringId = ringId;
    if (this.#reader !== null) this.#reader.moveTo(ring);
    else {
      this.#reader = new RingReader(ring, { start: 'latest-key', sound: 'both' });
      this.#reader.subscribe();
    }
  }

  /** Sends what there is, as far as the link takes it. */
  readonly #pump = (): void => {
    const reader = this.#reader;
    if (reader === null || this.#path === null || this.#writes > 0 || this.#isEnded) return;
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#lag.lagMs(nowMs) > MAX_UNSEEN_MS) return;
    if (reader.lagMs(nowMs) > MAX_WAIT_MS) reader.skipToLatestKey();
    const { staging } = this.#deps;
    staging.clear();
    while (staging.usedBytes < FLUSH_BYTES && reader.next()) this.#stage(reader, staging, nowMs);
    for (const text of this.#texts.splice(0)) staging.add(text);
    if (staging.usedBytes > 0) this.#write(staging.filled);
  };

  #stage(reader: RingReader, staging: Staging, nowMs: MonotonicMs): void {
    const { awaitsSound } = reader;
    const isTold = reader.streamVersion === this.#toldVersion && awaitsSound === this.#toldAwaitsSound;
    const bytesBefore = staging.usedBytes;
    if (!isTold) {
      const info = reader.formatInfo();
      if (info === null) return;
      const described = describedFields({ ring: this.#ringId, awaitsSound, info });
      staging.add(textMessage('description', described));
    }
    const start = staging.usedBytes;
    const target = staging.room(BEFORE_FRAME_BYTES + reader.lengthBytes);
    const { flags } = reader;
    const all = reader.discontinuity ? flags | frameFlag.discontinuity : flags;
    if (!reader.copyTo(target, writeFrameHead(target, start, reader, all, nowMs))) {
      staging.cutTo(bytesBefore);
      return;
    }
    this.#toldVersion = reader.streamVersion;
    this.#toldAwaitsSound = awaitsSound;
  }

  /** Where nothing else is being written TLS encrypts `bytes` at once: they may be used again as soon as this returns. */
  #write(bytes: Buffer): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#writes += 1;
    this.#sentMs = nowMs;
    this.#lag.onSent(bytes.length, nowMs);
    this.#socket.write(bytes, this.#onWritten);
    this.#deps.rest.onWrite();
  }

  readonly #onWritten = (): void => {
    this.#writes -= 1;
    this.#pump();
  };

  #onData(chunk: Buffer): void {
    if (this.#isEnded) return;
    this.#heardMs = this.#deps.clock.monotonicMs();
    try {
      this.#wire.feed(chunk, 0, chunk.length);
    } catch (fault) {
      if (!(fault instanceof AppError))
        this.#deps.log.error('a box could not be served', { reason: messageOf(fault) });
      this.end(messageOf(fault));
    }
  }

  #close(reason: string): void {
    this.#socket.destroy();
    this.#forget(reason);
  }

  #forget(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#unlisten();
    this.#reader?.unsubscribe();
    const { log, onEnded } = this.#deps;
    if (this.#source !== null) {
      const facts = { to: this.#asker, reason, dropped_frames: this.droppedFrames };
      log.info('another box pulls a camera no more', { ...sourceFields(this.#source), ...facts });
    }
    onEnded(this);
  }
}
