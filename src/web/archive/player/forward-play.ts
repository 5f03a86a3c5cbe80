import type { ConfigMessage, FrameMessage, StreamMessage } from '../../player/messages.js';
import { PictureDecoder } from '../../player/picture-decoder.js';
import { accelerationFor } from './decode-gop.js';
import { FramesFault } from './frames-fault.js';
import { requestFrames, type TokenSource } from './frames-request.js';
import { PICTURES, SOUND } from './gop.js';
import { persistently } from './persistently.js';
import { messageOf, type Playing, type RecordedTimes, type Shown } from './shown.js';

/** So much is fetched ahead of what is shown. */
const AHEAD_MS = 3_000;
/** Asked for at once: connections are few, and are given back soon. */
const ASKED_MS = 6_000;
const MAX_DECODED = 8;
const MAX_QUEUED = 4;
/** Farther behind than this a decoder goes on at the newest keyframe. */
const MAX_BEHIND_MS = 1_000;
const LOOK_AGAIN_MS = 700;
const LEAST_MS = 500;

export type SoundMessage = Exclude<StreamMessage, { kind: 'gap' }>;

type ForwardOptions = {
  readonly camera: string;
  readonly fromMs: number;
  readonly rate: number;
  readonly token: TokenSource;
  readonly times: RecordedTimes;
  readonly onSound: (message: SoundMessage) => void;
};

type Waiting = { readonly config: ConfigMessage; readonly frame: FrameMessage };

const isSame = (a: ConfigMessage, b: ConfigMessage): boolean =>
  a.codec === b.codec &&
  a.sets.length === b.sets.length &&
  a.sets.every((byte, index) => byte === b.sets[index]);

/** All frames, one after another: fetched ahead, decoded a little ahead. */
export class ForwardPlay implements Playing {
  fault: string | null = null;
  retrying: string | null = null;
  readonly #options: ForwardOptions;
  readonly #abort = new AbortController();
  #clockMs: number;
  #waiting: Waiting[] = [];
  #decoded: Shown[] = [];
  #decoder: PictureDecoder | null = null;
  #isDraining = false;
  #config: ConfigMessage | null = null;
  /** Up to where frames came, decoded and seen. */
  #lastDecodeUs = 0;
  #lastWallUs = 0;
  #intervalMs = 66;
  /** Nothing came behind what was asked for last: there may be more later. */
  #isAtEnd = false;
  /** Nothing here decodes it: no other decoder would. */
  #isUnsupported = false;
  #wake: () => void = () => {};

  constructor(options: ForwardOptions) {
    this.#options = options;
    this.#clockMs = options.fromMs;
    this.#run().catch((fault: unknown) => {
      if (!this.#abort.signal.aborted) this.fault = messageOf(fault);
    });
  }

  at(timeMs: number): Shown | null {
    this.#clockMs = timeMs;
    const decoded = this.#decoded;
    while (decoded.length > 1 && decoded[1]!.wallMs <= timeMs) decoded.shift()?.picture.close();
    this.#feed();
    this.#wake();
    const [first] = decoded;
    return first !== undefined && first.wallMs <= timeMs ? first : null;
  }

  isReady(timeMs: number): boolean {
    if (this.fault !== null) return true;
    const last = this.#decoded.at(-1);
    // One behind the moment says that the one before it is right.
    if (last !== undefined && last.wallMs + this.#intervalMs >= timeMs) return true;
    return this.#isAtEnd && this.#waiting.length === 0;
  }

  close(): void {
    this.#abort.abort();
    this.#wake();
    this.#decoder?.close();
    for (const { picture } of this.#decoded) picture.close();
    this.#decoded = [];
    this.#waiting = [];
  }

  get #aheadMs(): number {
    return AHEAD_MS * Math.max(1, this.#options.rate);
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    let fromMs = this.#options.fromMs;
    while (!signal.aborted) {
      const before = this.#lastWallUs;
      const { times } = this.#options;
      const recordedMs = times.after(fromMs);
      // What was written a moment ago can't be read yet.
      if (recordedMs !== null && times.after(fromMs + LEAST_MS) !== null)
        await this.#askUntilAnswered(Math.max(recordedMs, fromMs));
      const isMore = this.#lastWallUs > before;
      this.#isAtEnd = !isMore;
      // What isn't there though it was told of is left behind with the clock.
      fromMs = isMore ? this.#lastWallUs / 1000 + this.#intervalMs : Math.max(fromMs, this.#clockMs);
      await this.#until(
        () => this.#lastWallUs / 1000 < this.#clockMs + this.#aheadMs,
        isMore ? 0 : LOOK_AGAIN_MS,
      );
    }
  }

  /** What the clock went past meanwhile isn't asked for any more. */
  #askUntilAnswered(fromMs: number): Promise<void> {
    const ask = (): Promise<void> =>
      this.#ask(this.retrying === null ? fromMs : Math.max(fromMs, this.#clockMs));
    const tell = (why: string | null): void => {
      this.retrying = why;
    };
    return persistently(ask, tell, this.#abort.signal);
  }

  async #ask(fromMs: number): Promise<void> {
    const { camera, token, rate } = this.#options;
    const wanted = { fromMs, toMs: fromMs + ASKED_MS * Math.max(1, rate) };
    try {
      for await (const message of requestFrames(camera, wanted, token, this.#abort.signal)) {
        this.#take(message);
        this.#feed();
      }
    } catch (fault) {
      if (!(fault instanceof FramesFault && fault.kind === 'none')) throw fault;
    }
  }

  #take(message: StreamMessage): void {
    if (message.kind === 'gap') return;
    if (message.stream === SOUND) this.#options.onSound(message);
    else if (message.stream !== PICTURES) return;
    else if (message.kind === 'config') {
      // Each answer says it anew.
      if (this.#config === null || !isSame(this.#config, message)) this.#config = message;
    } else {
      // The GOP in which the next answer begins is sent again from its start on.
      if (message.decodeUs <= this.#lastDecodeUs && message.wallUs <= this.#lastWallUs) return;
      const sinceMs = (message.wallUs - this.#lastWallUs) / 1000;
      if (sinceMs > 0 && sinceMs < 1_000) this.#intervalMs = sinceMs;
      this.#lastDecodeUs = message.decodeUs;
      this.#lastWallUs = Math.max(this.#lastWallUs, message.wallUs);
      if (this.#config !== null && !this.#isUnsupported)
        this.#waiting.push({ config: this.#config, frame: message });
    }
  }

  /** Gives the decoder no more than is shown soon: decoders stand still when many pictures are open. */
  #feed(): void {
    if (this.#abort.signal.aborted || this.#isDraining) return;
    this.#catchUp();
    while (this.#waiting.length > 0 && this.#decoded.length < MAX_DECODED) {
      const { config, frame } = this.#waiting[0]!;
      if (this.#decoder === null) this.#decoder = this.#decoderFor(config);
      if (this.#decoder.queued >= MAX_QUEUED) return;
      if (this.#decoder.config !== config && frame.isKey) {
        this.#drain();
        return;
      }
      this.#waiting.shift();
      this.#decoder.decode(frame);
    }
    if (this.#waiting.length === 0 && this.#isAtEnd && (this.#decoder?.held ?? 0) > 0) this.#drain();
  }

  /** A decoder that can't follow leaves out what is over already. */
  #catchUp(): void {
    const first = this.#waiting[0];
    if (first === undefined || first.frame.wallUs / 1000 > this.#clockMs - MAX_BEHIND_MS) return;
    const key = this.#waiting.findLastIndex(
      ({ frame }) => frame.isKey && frame.wallUs / 1000 <= this.#clockMs,
    );
    if (key > 0) this.#waiting.splice(0, key);
  }

  /** Another stream follows, or nothing: what the decoder holds back comes out first. */
  #drain(): void {
    const decoder = this.#decoder;
    if (decoder === null) return;
    this.#isDraining = true;
    void decoder.flush().finally(() => {
      decoder.close();
      if (this.#decoder === decoder) this.#decoder = null;
      this.#isDraining = false;
      this.#feed();
    });
  }

  #decoderFor(config: ConfigMessage): PictureDecoder {
    return new PictureDecoder(config, {
      acceleration: accelerationFor(config),
      onPicture: ({ frame, wallUs }) => {
        const wallMs = wallUs / 1000;
        if (this.#abort.signal.aborted) {
          frame.close();
          return;
        }
        // On the way from the keyframe to where it begins only the newest one counts.
        const last = this.#decoded.at(-1);
        if (last !== undefined && wallMs <= this.#clockMs) {
          this.#decoded.pop();
          last.picture.close();
        }
        this.#decoded.push({ picture: frame, wallMs });
        this.#feed();
      },
      onFault: ({ kind, message }) => {
        this.#decoder = null;
        if (kind === 'unsupported') {
          this.fault = message;
          this.#isUnsupported = true;
          this.#waiting = [];
        } else {
          const key = this.#waiting.findIndex(({ frame }) => frame.isKey);
          this.#waiting.splice(0, key < 0 ? this.#waiting.length : key);
        }
      },
    });
  }

  /** Until it is so, looked at with each picture that is shown, and after `leastMs` at the earliest. */
  async #until(isSo: () => boolean, leastMs: number): Promise<void> {
    if (leastMs > 0) await new Promise((resolve) => setTimeout(resolve, leastMs));
    while (!isSo() && !this.#abort.signal.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}
