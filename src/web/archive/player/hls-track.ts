import type Hls from 'hls.js';
import type { ErrorData } from 'hls.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { accessToken } from '../../data/session.js';
import { monotonicMs } from '../../player/monotonic.js';
import { Backoff } from '../../socket/backoff.js';
import { EMPTY_LANE, type Lane, recordedFrom, stateAt } from '../tape/lane.js';

const BEFORE_MS = 30_000;
const AFTER_MS = 3_600_000;
/** So near to the end of what was loaded another range is loaded for a seek. */
const EDGE_MS = 10_000;
const END_SEC = 0.05;
/** What comes behind the end is looked for so often, */
const LOOK_AGAIN_MS = 2_000;
/** and loaded when there is as much: what is being written now would be played sooner than there is more. */
const MORE_MS = 10_000;
const NOT_FOUND = 404;
/** What ought to be there is asked for so often, in two minutes. */
const MAX_MISSES = 10;

/** `none`: the service has nothing of then; `failed`: it didn't say. */
type State = 'loading' | 'loaded' | 'none' | 'failed';

type Piece = { readonly startSec: number; readonly durationSec: number; readonly dateMs: number };

/** One camera's recordings in a `<video>`: an hour at a time, and on into the next one where play gets there. */
export class HlsTrack {
  readonly video = document.createElement('video');
  lane: Lane = EMPTY_LANE;
  fault: string | null = null;
  retrying: string | null = null;
  /** Nothing is behind what was played, for now. */
  isAtEnd = false;
  readonly #camera: string;
  readonly #backoff = new Backoff();
  #hls: Hls | null = null;
  #pieces: readonly Piece[] = [];
  #range: readonly [number, number] = [0, 0];
  #loads = 0;
  #wantedMs = 0;
  #isPlaying = false;
  /** How often the service had nothing of the moment at which it stands. */
  #misses = 0;
  #state: State = 'none';
  /** Nothing is loaded anew before then, by the clock that nobody sets. */
  #againAtMs = 0;

  constructor(camera: string) {
    this.#camera = camera;
    this.video.muted = true;
    this.video.playsInline = true;
  }

  /** The moment that is shown. */
  get shownMs(): number | null {
    const sec = this.video.currentTime;
    const piece = this.#pieces.findLast(({ startSec }) => startSec <= sec + 0.001);
    return piece === undefined ? null : piece.dateMs + (sec - piece.startSec) * 1000;
  }

  seek(timeMs: number): void {
    this.#wantedMs = timeMs;
    this.#misses = 0;
    this.isAtEnd = false;
    const [fromMs, toMs] = this.#range;
    const isGood = this.#state === 'loaded' && this.fault === null;
    if (isGood && timeMs >= fromMs && timeMs < toMs - EDGE_MS) this.#place();
    else void this.#load(timeMs - BEFORE_MS);
  }

  /** Begins as soon as there is something, however long that takes. */
  play(rate: number): void {
    // What was missed while it stood is looked for at once.
    if (!this.#isPlaying && this.#state === 'none') this.#againAtMs = 0;
    this.#isPlaying = true;
    this.#misses = 0;
    // What is loaded later begins with the default.
    this.video.defaultPlaybackRate = rate;
    this.video.playbackRate = rate;
    // What has ended would play from its beginning once more: what comes behind it is looked for.
    if (!this.video.ended) this.#start();
  }

  pause(): void {
    // It stays where it came to, also when a playlist that grows is loaded again.
    if (this.#isPlaying) this.#wantedMs = this.shownMs ?? this.#wantedMs;
    this.#isPlaying = false;
    this.#misses = 0;
    this.video.pause();
  }

  /** Now and then: goes on where what was loaded ends, and tries again what failed, or ought to be there. */
  look(): void {
    if (monotonicMs() < this.#againAtMs) return;
    // It may have been about to be written, or moved, when it was asked for.
    const isMissed =
      !this.#isPlaying &&
      this.#state === 'none' &&
      this.#misses < MAX_MISSES &&
      stateAt(this.lane, this.#wantedMs).kind === 'recorded';
    if (this.#state === 'failed' || isMissed) void this.#load(this.#wantedMs - BEFORE_MS);
    if (!this.#isPlaying) return;
    if (this.#state === 'none') this.#goOn(this.#wantedMs);
    const last = this.#pieces.at(-1);
    if (this.#state !== 'loaded' || last === undefined) return;
    const endSec = last.startSec + last.durationSec;
    if (this.video.ended || this.video.currentTime >= endSec - END_SEC)
      this.#goOn(last.dateMs + last.durationSec * 1000);
  }

  close(): void {
    this.#loads += 1;
    this.#hls?.destroy();
    this.video.remove();
  }

  /** With what comes next, if it is known that something does; till then the last picture stays. */
  #goOn(fromMs: number): void {
    this.#againAtMs = monotonicMs() + LOOK_AGAIN_MS;
    this.isAtEnd = recordedFrom(this.lane, fromMs + MORE_MS) === null;
    const nextMs = recordedFrom(this.lane, fromMs);
    if (this.isAtEnd || nextMs === null) return;
    this.#wantedMs = nextMs;
    void this.#load(nextMs);
  }

  #start(): void {
    // Another load may end it: that one begins anew.
    if (this.#isPlaying && this.#pieces.length > 0) void this.video.play().catch(() => {});
  }

  #place(): void {
    const piece = this.#pieces.findLast(({ dateMs }) => dateMs <= this.#wantedMs) ?? this.#pieces[0];
    if (piece === undefined) return;
    const inSec = Math.min(Math.max((this.#wantedMs - piece.dateMs) / 1000, 0), piece.durationSec);
    this.video.currentTime = piece.startSec + inSec;
    // At the very end it would play from its beginning.
    if (piece !== this.#pieces.at(-1) || inSec < piece.durationSec - END_SEC) this.#start();
  }

  async #load(fromMs: number): Promise<void> {
    this.#loads += 1;
    const load = this.#loads;
    const range = [fromMs, Math.max(fromMs + 1_000, Math.min(fromMs + AFTER_MS, serviceNowMs()))] as const;
    this.#range = range;
    this.#pieces = [];
    this.#state = 'loading';
    this.fault = null;
    const { default: Player } = await import('hls.js');
    if (load !== this.#loads) return;
    this.#hls?.destroy();
    // Its worker comes from a blob, which the content policy forbids.
    const hls = new Player({
      enableWorker: false,
      // A playlist that grows isn't live: where it is watched is said here.
      startPosition: 0,
      // Each with a token that is good then: it goes on for longer than any is.
      xhrSetup: async (xhr) => xhr.setRequestHeader('authorization', `Bearer ${await accessToken()}`),
    });
    this.#hls = hls;
    let isPlaced = false;
    hls.on(Player.Events.LEVEL_LOADED, (_event, { details }) => {
      this.#backoff.reset();
      this.#misses = 0;
      this.retrying = null;
      this.#state = 'loaded';
      this.#pieces = details.fragments.flatMap(({ start, duration, programDateTime }) =>
        programDateTime === null ? [] : { startSec: start, durationSec: duration, dateMs: programDateTime },
      );
      // A playlist that grows is loaded again and again, and play has gone on meanwhile.
      if (!isPlaced || !this.#isPlaying) this.#place();
      isPlaced = true;
    });
    hls.on(Player.Events.ERROR, (_event, error) => this.#onFault(error));
    const query = new URLSearchParams({
      from: new Date(range[0]).toISOString(),
      to: new Date(range[1]).toISOString(),
    });
    hls.loadSource(`/hls/${encodeURIComponent(this.#camera)}/range.m3u8?${query}`);
    hls.attachMedia(this.video);
  }

  #onFault({ fatal, details, type, response }: ErrorData): void {
    if (!fatal) return;
    if (response?.code === NOT_FOUND && this.#state === 'loading') {
      // The tape says why.
      this.#state = 'none';
      this.retrying = null;
      if (!this.#isPlaying) this.#misses += 1;
      this.#againAtMs = monotonicMs() + LOOK_AGAIN_MS * Math.max(this.#misses, 1);
    } else if (type === 'networkError') {
      this.#wantedMs = this.shownMs ?? this.#wantedMs;
      this.#state = 'failed';
      this.#againAtMs = monotonicMs() + this.#backoff.next();
      this.retrying = details;
    } else this.fault = details;
  }
}
