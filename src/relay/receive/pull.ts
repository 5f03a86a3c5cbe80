import { isIP, type OnReadOpts } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import type { Clock, MonotonicMs, Timer } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { RingWriter } from '../../ring/writer.js';
import { relayError } from '../relay-error.js';
import { clientTls } from '../shared-key-tls.js';
import { MAX_PATH, MIN_VERSION, type TextType, VERSION } from '../wire/format.js';
import { type FrameHead, type WireHandler, WireReader } from '../wire/reader.js';
import { type Hello, readDescribed, readEnd, readSeen, readWelcome, type SeenThere } from '../wire/texts.js';
import { SeenMessage, textMessage } from '../wire/write.js';
import { FramesIn, type Pulled } from './frames-in.js';

/** A box, and where its relay listens. */
export type OtherBox = { readonly box: string; readonly host: string; readonly port: number };

export type PullOptions = {
  /** Of the source that is asked for (`ring/source-key.ts`). */
  readonly source: string;
  readonly from: OtherBox;
};

export type PullDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** The one read buffer of the thread. */
  readonly readBuffer: Buffer;
  readonly ring: RingWriter;
  /** What pulls before this one have left in the ring. */
  readonly pulled: Pulled;
  /** Called for each read of its socket; returns when it came. */
  readonly onRead: () => MonotonicMs;
  /** The box has answered: the boxes that the frames come by, itself last. */
  readonly onPath: (path: readonly string[]) => void;
  /** That box, or one before it, saw this in a picture of it. */
  readonly onSeen: (seen: SeenThere) => void;
  /** The first frame that can be shown is in the ring. */
  readonly onStreaming: () => void;
  /** Once; no frame is written to the ring after it. */
  readonly onEnded: (fault: { readonly code: string; readonly message: string }) => void;
};

/** Opens pulls of one box: all that it asks others for. */
export type OpenPull = (options: PullOptions, deps: PullDeps) => Pull;

const CONNECT_TIMEOUT_MS = 5_000;
/** A box that has nothing to send says so each second. */
const STALL_AFTER_MS = 5_000;
/** A box that can't say for so long by whom it has it has it of nobody. */
const WELCOME_WITHIN_MS = 10_000;
/** So often the sender is told how far it was read: by that it sees that the link is slow. */
const SEEN_EVERY_MS = 500;
/** Cameras tell five times a second what they see; of more in a second nothing is taken. */
const MAX_SEEN = 64;

/**
 * One source of a camera as another box has it, from the connection to its end, and the error boundary around it: whatever that
 * box sends ends this pull and nothing else.
 */
export class Pull implements WireHandler {
  readonly #options: PullOptions;
  readonly #deps: PullDeps;
  readonly #hello: Hello;
  readonly #tls: ConnectionOptions;
  readonly #wire = new WireReader('sender', this);
  readonly #frames: FramesIn;
  readonly #seen = new SeenMessage();
  readonly #where: string;
  #socket: TLSSocket | null = null;
  #deadline: Timer | null = null;
  #closed: Promise<void> = Promise.resolve();
  #isWelcome = false;
  #isStreaming = false;
  #isEnded = false;
  #readBytes = 0;
  #seenThisSecond = 0;
  #heardMs: MonotonicMs;
  #seenMs: MonotonicMs;
  #connectedMs: MonotonicMs;

  constructor(options: PullOptions, own: { box: string; tls: ConnectionOptions }, deps: PullDeps) {
    const { from, source } = options;
    this.#options = options;
    this.#deps = deps;
    this.#tls = own.tls;
    this.#hello = { versions: [MIN_VERSION, VERSION], box: own.box, source };
    this.#where = `${from.box} at ${isIP(from.host) === 6 ? `[${from.host}]` : from.host}:${from.port}`;
    this.#frames = new FramesIn(deps.ring, deps.pulled);
    this.#heardMs = deps.clock.monotonicMs();
    this.#seenMs = this.#heardMs;
    this.#connectedMs = this.#heardMs;
  }

  get isPlaying(): boolean {
    return this.#isWelcome && !this.#isEnded;
  }

  run(): void {
    if (this.#isEnded) return;
    const { clock, readBuffer } = this.#deps;
    const { host, port } = this.#options.from;
    this.#deadline = clock.after(CONNECT_TIMEOUT_MS, () =>
      this.#end(relayError('relay_unreachable', `${this.#where} doesn't answer`)),
    );
    const onread: OnReadOpts = {
      buffer: readBuffer,
      callback: (length) => {
        this.#onRead(readBuffer, length);
        return true;
      },
    };
    // TLS sockets take `onread` too, which their types don't say.
    const options: ConnectionOptions & { onread: OnReadOpts } = { ...this.#tls, host, port, onread };
    const socket = connect(options, () => this.#onConnected(socket));
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('error', (error) => this.#end(faultOf(error, this.#where)));
    socket.on('end', () =>
      this.#end(relayError('relay_unreachable', `${this.#where} closed the connection`)),
    );
    this.#closed = new Promise((resolve) => {
      socket.on('close', () => {
        resolve();
        this.#end(relayError('relay_unreachable', `${this.#where} is gone`));
      });
    });
  }

  /** Every second. */
  tick(): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#seenThisSecond = 0;
    if (this.#socket === null || this.#isEnded || this.#deadline !== null) return;
    if (nowMs - this.#heardMs > STALL_AFTER_MS)
      this.#end(relayError('relay_stalled', `${this.#where} says nothing any more`));
    else if (!this.#isWelcome && nowMs - this.#connectedMs > WELCOME_WITHIN_MS)
      this.#end(relayError('relay_stalled', `${this.#where} has it of nobody itself`));
  }

  /** Resolves when its socket is gone. */
  close(): Promise<void> {
    this.#end(new AppError('aborted', 'the pull was ended by us'));
    return this.#closed;
  }

  onText(type: TextType, text: string): void {
    if (type === 'welcome') this.#onWelcome(text);
    else if (type === 'detection') this.#onSeen(text);
    else if (type === 'description') this.#frames.onDescribed(readDescribed(text));
    else if (type === 'end')
      throw relayError('relay_ended', `${this.#where} ended it: ${readEnd(text).reason}`);
    else throw relayError('relay_protocol', `${this.#where} asks, and is to answer`);
  }

  onSeen(): void {
    throw relayError('relay_protocol', `${this.#where} has seen what was not sent`);
  }

  onFrame(head: Readonly<FrameHead>): void {
    if (!this.#isWelcome) throw relayError('relay_protocol', `${this.#where} sends before it has answered`);
    this.#frames.onFrame(head);
  }

  onBytes(source: Buffer, start: number, end: number): void {
    this.#frames.onBytes(source, start, end);
  }

  onFrameEnd(): void {
    this.#frames.onFrameEnd();
    if (this.#isStreaming || !this.#frames.isSettled) return;
    this.#isStreaming = true;
    this.#deps.onStreaming();
  }

  #onConnected(socket: TLSSocket): void {
    this.#deadline?.cancel();
    this.#deadline = null;
    this.#heardMs = this.#deps.clock.monotonicMs();
    this.#connectedMs = this.#heardMs;
    socket.write(textMessage('hello', this.#hello));
  }

  #onWelcome(text: string): void {
    const { version, path } = readWelcome(text);
    const { box } = this.#hello;
    if (version < MIN_VERSION || version > VERSION)
      throw relayError('relay_version', `${this.#where} speaks version ${version}`);
    if (path.includes(box))
      throw relayError('relay_loop', `${this.#where} has it of ${box} itself, by ${path.join(', ')}`);
    if (path.length >= MAX_PATH)
      throw relayError('relay_loop', `${this.#where} has it by too many boxes: ${path.join(', ')}`);
    this.#isWelcome = true;
    this.#deps.onPath(path);
  }

  #onSeen(text: string): void {
    this.#seenThisSecond += 1;
    if (this.#seenThisSecond <= MAX_SEEN) this.#deps.onSeen(readSeen(text));
  }

  #onRead(buffer: Buffer, length: number): void {
    if (this.#isEnded) return;
    const nowMs = this.#deps.onRead();
    this.#heardMs = nowMs;
    this.#frames.nowMs = nowMs;
    this.#readBytes += length;
    try {
      this.#wire.feed(buffer, 0, length);
    } catch (fault) {
      this.#end(fault);
      return;
    }
    if (nowMs - this.#seenMs >= SEEN_EVERY_MS) this.#tellSeen(nowMs);
  }

  #tellSeen(nowMs: MonotonicMs): void {
    const socket = this.#socket;
    // The message is filled in again: it must not wait in a queue.
    if (socket === null || socket.writableLength > 0) return;
    this.#seenMs = nowMs;
    socket.write(this.#seen.fill(this.#readBytes));
  }

  #end(fault: unknown): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#deadline?.cancel();
    this.#socket?.destroy();
    this.#frames.end();
    const { ring } = this.#deps;
    ring.add('undecodableFrames', this.#frames.passedFrames);
    ring.add('oversizedFrames', this.#frames.oversizedFrames);
    const code = fault instanceof AppError ? fault.code : 'internal_error';
    if (code === 'internal_error') {
      const stack = fault instanceof Error ? fault.stack : String(fault);
      this.#deps.log.error('a pull failed inside', { stack });
    }
    this.#deps.onEnded({ code, message: messageOf(fault) });
  }
}

/** What a socket's error means: most often it is the system's, and says what it is. */
const faultOf = (error: Error, where: string): AppError => {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')
    ? relayError('relay_refused', `${where} has another CLUSTER_KEY, or is no box`, error)
    : relayError(
        'relay_unreachable',
        `${where} can't be reached: ${code === '' ? error.message : code}`,
        error,
      );
};

/** `key`: what all boxes have for this. */
export const pullsOf = (box: string, key: Buffer): OpenPull => {
  const tls = clientTls(key);
  return (options, deps) => new Pull(options, { box, tls }, deps);
};
