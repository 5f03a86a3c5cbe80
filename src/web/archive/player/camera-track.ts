import { serviceNowMs } from '../../data/service-clock.js';
import { EMPTY_LANE, type Lane, recordedFrom, recordedUntil, stateAt } from '../tape/lane.js';
import { decodeFrames } from './decode-gop.js';
import type { CameraFact } from './facts.js';
import { ForwardPlay, type SoundMessage } from './forward-play.js';
import type { TokenSource } from './frames-request.js';
import { GopStore } from './gop-store.js';
import { KeyPlay } from './key-play.js';
import { KeyScrub, type ShowKey } from './key-scrub.js';
import { persistently } from './persistently.js';
import { ReversePlay } from './reverse-play.js';
import { Screen, sizeOf } from './screen.js';
import { messageOf, type Playing, type RecordedTimes, type Shown } from './shown.js';
import { StillView } from './still-view.js';

/** Faster than this keyframes are shown alone. */
const MAX_ALL_FRAMES_RATE = 2;

const KNOWN_WITHIN_MS = 1_500;

export type TrackOptions = {
  readonly camera: string;
  readonly canvas: OffscreenCanvas;
  readonly token: TokenSource;
  readonly onChange: () => void;
  readonly onSound: (camera: string, message: SoundMessage) => void;
  /** So many decoded neighbours are kept beside a still picture. */
  readonly neighbours: () => number;
};

/** One camera: what is on its screen, and who brings it. */
export class CameraTrack {
  readonly #options: TrackOptions;
  readonly #times: RecordedTimes = {
    after: (timeMs) => recordedFrom(this.lane, timeMs),
    before: (timeMs) => recordedUntil(this.lane, timeMs),
  };
  readonly #screen: Screen;
  readonly #store: GopStore;
  readonly #still: StillView;
  #scrub: KeyScrub | null = null;
  #playing: Playing | null = null;
  #seek = new AbortController();
  #isLoading = false;
  #fault: string | null = null;
  #retrying: string | null = null;
  #shownMs: number | null = null;
  #drawn = 0;
  #ratio = 0;
  #lane: Lane = EMPTY_LANE;
  #onLane: () => void = () => {};
  /** What stands still, for a snapshot. */
  #stillShown: Shown | null = null;

  constructor(options: TrackOptions) {
    this.#options = options;
    this.#screen = new Screen(options.canvas);
    this.#store = new GopStore(options.camera, options.token);
    this.#still = new StillView(this.#store);
  }

  get lane(): Lane {
    return this.#lane;
  }

  set lane(lane: Lane) {
    this.#lane = lane;
    this.#onLane();
  }

  get fact(): CameraFact {
    const fault = this.#playing?.fault ?? this.#fault;
    return {
      camera: this.#options.camera,
      shownMs: this.#shownMs,
      ratio: this.#ratio,
      isLoading: this.#isLoading,
      fault,
      retrying: this.#playing?.retrying ?? this.#retrying,
      drawn: this.#drawn,
    };
  }

  get stillShown(): Shown | null {
    return this.#stillShown;
  }

  resize(width: number, height: number): void {
    this.#screen.resize(width, height);
    if (this.#stillShown !== null) this.#screen.draw(this.#stillShown.picture);
  }

  /** The picture that was seen at a moment, and stands still. */
  async seek(timeMs: number): Promise<void> {
    await this.#toStill(async (signal) => {
      await this.#untilKnown(timeMs);
      if (signal.aborted || this.#hasGap(timeMs)) return null;
      const ask = () => this.#still.seek(timeMs, this.#options.neighbours(), signal);
      return persistently(ask, (why) => this.#tellRetrying(why, signal), signal);
    });
  }

  /** The picture beside the one that is shown; its moment, or null: there is none beside it. */
  step(direction: 1 | -1): Promise<number | null> {
    return this.#toStill((signal) => this.#still.step(direction, signal), true);
  }

  scrubTo(timeMs: number): void {
    if (this.#scrub === null) {
      this.stop();
      const { camera, token } = this.#options;
      this.#scrub = new KeyScrub(camera, token, this.#showKey);
    }
    if (this.#hasGap(timeMs)) this.#blank();
    else this.#scrub.to(timeMs);
  }

  readonly #showKey: ShowKey = (gop, isWanted, signal) =>
    decodeFrames(
      gop.config,
      gop.frames,
      (frame, wallUs) => {
        if (isWanted()) this.#draw({ picture: frame, wallMs: wallUs / 1000 });
        frame.close();
      },
      signal,
    );

  play(fromMs: number, rate: number): void {
    this.stop();
    const { camera, token, onSound } = this.#options;
    if (rate > 0 && rate <= MAX_ALL_FRAMES_RATE)
      this.#playing = new ForwardPlay({
        ...{ camera, fromMs, rate, token, times: this.#times },
        onSound: (message) => onSound(camera, message),
      });
    else if (rate < 0 && rate >= -MAX_ALL_FRAMES_RATE)
      this.#playing = new ReversePlay(this.#store, fromMs, this.#times, () => this.#byKeyFrames(rate));
    else this.#playing = new KeyPlay(camera, fromMs, rate, token, this.#times);
  }

  /** Whether what belongs to a moment of play is there. */
  isReady(timeMs: number): boolean {
    return this.#playing === null || this.#hasGap(timeMs) || this.#playing.isReady(timeMs);
  }

  /** Nobody answers, and what was there has been shown. */
  isCutOff(timeMs: number): boolean {
    return this.#playing?.retrying != null && !this.isReady(timeMs);
  }

  /** Draws what belongs to a moment of play, if it isn't drawn already. */
  show(timeMs: number): void {
    const shown = this.#playing?.at(timeMs) ?? null;
    if (this.#hasGap(timeMs)) this.#blank();
    else if (shown !== null && shown.wallMs !== this.#shownMs) this.#draw(shown);
  }

  stop(): void {
    this.#seek.abort();
    this.#scrub?.close();
    this.#scrub = null;
    this.#playing?.close();
    this.#playing = null;
    this.#stillShown = null;
    this.#isLoading = false;
    this.#fault = null;
    this.#retrying = null;
  }

  close(): void {
    this.stop();
    this.#still.close();
  }

  #hasGap(timeMs: number): boolean {
    return stateAt(this.lane, timeMs).kind === 'gap';
  }

  /** For what isn't recorded nobody is asked; who doesn't hear of it soon asks anyhow. */
  async #untilKnown(timeMs: number): Promise<void> {
    if (stateAt(this.#lane, timeMs).kind !== 'unknown') return;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, KNOWN_WITHIN_MS);
      this.#onLane = () => {
        if (stateAt(this.#lane, timeMs).kind !== 'unknown') resolve();
      };
    });
  }

  #byKeyFrames(rate: number): void {
    this.#playing?.close();
    const { camera, token } = this.#options;
    this.#playing = new KeyPlay(camera, this.#shownMs ?? serviceNowMs(), rate, token, this.#times);
  }

  async #toStill(
    find: (signal: AbortSignal) => Promise<Shown | null>,
    isStep = false,
  ): Promise<number | null> {
    this.stop();
    const abort = new AbortController();
    this.#seek = abort;
    this.#isLoading = true;
    try {
      const shown = await find(abort.signal);
      if (abort.signal.aborted) return null;
      if (shown !== null) {
        this.#stillShown = shown;
        this.#draw(shown);
      } else if (!isStep) this.#blank();
      return shown?.wallMs ?? null;
    } catch (fault) {
      if (!abort.signal.aborted) this.#fault = messageOf(fault);
      return null;
    } finally {
      if (this.#seek === abort) {
        this.#isLoading = false;
        this.#options.onChange();
      }
    }
  }

  #tellRetrying(why: string | null, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#retrying = why;
    this.#options.onChange();
  }

  #draw(shown: Shown): void {
    this.#screen.draw(shown.picture);
    const { width, height } = sizeOf(shown.picture);
    this.#ratio = width / Math.max(height, 1);
    this.#shownMs = shown.wallMs;
    this.#drawn += 1;
    this.#options.onChange();
  }

  /** Nothing was recorded: an old picture would be taken for what was there. */
  #blank(): void {
    if (this.#shownMs === null) return;
    this.#shownMs = null;
    this.#screen.clear();
    this.#options.onChange();
  }
}
