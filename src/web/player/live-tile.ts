import { type ReadonlySignal, signal } from '@preact/signals';
import { cameras } from '../data/cameras.js';
import type { TileAnswer, TileProblem } from '../socket/tile-answer.js';
import { AWAY_STATES } from './badges.js';
import type { FromDecodeWorker, TileSize, ToDecodeWorker } from './decode-messages.js';
import type { Step } from './governor.js';
import {
  chooseRung,
  Failures,
  type LadderFacts,
  Rebuilds,
  RefusedCodecs,
  type Rung,
  type RungReason,
  reasonAgainst,
} from './ladder.js';
import { monotonicMs } from './monotonic.js';
import { MseScreen } from './mse-screen.js';
import { makerOf, type Screen, type ScreenEvents } from './screen.js';
import type { SeenObject } from './seen.js';
import type { TileReport } from './tile-report.js';
import { saysTheSame, type TileView, viewOf } from './tile-view.js';

const MAIN_FROM_PX = 640;
const STILL_EVERY_MS = 1_000;
/** Stills are keyframes, and those come in a while. */
const STILL_KEYFRAME_MS = 4_000;
/** Of a tile that the governor lowered as far as it goes. */
const LOWERED_STILL_EVERY_MS = 5_000;
const OUT_OF_VIEW_MS = 2_000;

export type TileWish = {
  readonly cameraId: string;
  /** `auto`: by its size. */
  readonly stream: 'auto' | 'main' | 'sub';
  /** The larger, the later it is lowered. */
  readonly importance: number;
  readonly hasSound: boolean;
  /** What is detected in its pictures is shown. */
  readonly hasDetections: boolean;
  /** As sharp as its pictures are, whatever its size on the screen. */
  readonly isFullSize: boolean;
  /** Somebody looks at this one: its pictures follow each other evenly, though a little later. */
  readonly isPaced: boolean;
  /** The way that the user wants; null: the best one. */
  readonly rung: Rung | null;
};

export type TileOwner = {
  /** Nobody sees the page. */
  readonly isHidden: boolean;
  ladderFacts(tile: LiveTile): Omit<LadderFacts, 'refusedCodec' | 'failed'>;
  stepOf(tile: number): Step;
  clockOffsetMs(): number | null;
  /** For how long the machine slept since then. */
  sleptMsSince(ms: number): number;
  post(tile: LiveTile, message: ToDecodeWorker, transfer?: Transferable[]): void;
  /** What the service is to send is another thing now. */
  changed(): void;
  /** Asks the service anew, though nothing changed. */
  retry(): void;
  gone(tile: LiveTile): void;
};

/** One tile of the page: an element that shows a camera, and what is to be said of it. */
export class LiveTile {
  readonly tile: number;
  readonly decoder: number;
  wish: TileWish;
  rung: Rung = 'webcodecs';
  readonly #owner: TileOwner;
  readonly #view;
  readonly #report = signal<TileReport | null>(null);
  readonly #seen = signal<readonly SeenObject[]>([]);
  readonly #failures = new Failures();
  readonly #refused = new RefusedCodecs();
  readonly #canvases = new Rebuilds();
  readonly #resizes: ResizeObserver;
  readonly #views: IntersectionObserver;
  #host: HTMLElement | null = null;
  #screen: Screen | null = null;
  #screenKey = '';
  #answer: TileAnswer | null = null;
  #widthPx = 0;
  /** Null: nobody said so yet. */
  #isInView: boolean | null = null;
  #refusedStream = -1;
  #canvasMs = 0;
  #own = { drawnMs: 0, wallMs: 0 };
  #unsee: ReturnType<typeof setTimeout> | undefined;
  #outOfView: ReturnType<typeof setTimeout> | undefined;

  constructor(tile: number, decoder: number, wish: TileWish, owner: TileOwner) {
    this.tile = tile;
    this.decoder = decoder;
    this.wish = wish;
    this.#owner = owner;
    this.#view = signal<TileView>(viewOf(this.#facts(), monotonicMs()));
    this.#resizes = new ResizeObserver(() => this.#measure());
    this.#views = new IntersectionObserver((entries) => {
      for (const { isIntersecting } of entries) this.#onView(isIntersecting);
    });
  }

  get view(): ReadonlySignal<TileView> {
    return this.#view;
  }

  /** Figures, twice a second. */
  get report(): ReadonlySignal<TileReport | null> {
    return this.#report;
  }

  /** What was detected a moment ago. */
  get seen(): ReadonlySignal<readonly SeenObject[]> {
    return this.#seen;
  }

  get problem(): TileProblem | null {
    return this.#answer?.problem ?? null;
  }

  /** What it is to get of its camera, by its size, and by what this machine can do. */
  get stream(): 'main' | 'sub' {
    const isLowered = this.#owner.stepOf(this.tile) !== 'full' && !this.wish.isFullSize;
    return isLowered ? 'sub' : this.wholeStream;
  }

  /** The same where nothing is lowered. */
  get wholeStream(): 'main' | 'sub' {
    const { stream } = this.wish;
    if (this.#refused.isSubOnly) return 'sub';
    if (stream !== 'auto') return stream;
    return this.#widthPx >= MAIN_FROM_PX ? 'main' : 'sub';
  }

  /** Nobody sees it: it takes nothing, by whichever way. */
  get isAsleep(): boolean {
    return this.#owner.isHidden || this.#isInView !== true;
  }

  /** What its newest picture is on, for whoever looks at it by other means; null: there is none that is live. */
  get shown(): HTMLCanvasElement | HTMLVideoElement | HTMLImageElement | null {
    const element = this.#view.peek().freshness === 'live' ? this.#screen?.element : undefined;
    const isPicture =
      element instanceof HTMLCanvasElement ||
      element instanceof HTMLVideoElement ||
      element instanceof HTMLImageElement;
    return isPicture ? element : null;
  }

  get isBySocket(): boolean {
    return this.rung === 'webcodecs' || this.rung === 'mse';
  }

  /** Shows it in this element, which is empty; null: it isn't shown. */
  attach = (host: HTMLElement | null): void => {
    if (host === this.#host) return;
    this.#resizes.disconnect();
    this.#views.disconnect();
    this.#closeScreen();
    this.#host = host;
    if (host === null) return;
    this.#resizes.observe(host);
    this.#views.observe(host);
    this.#measure();
    this.update();
  };

  change(changes: Partial<TileWish>): void {
    this.wish = { ...this.wish, ...changes };
    this.#postSize();
    this.#postPaced();
    if (!this.wish.hasDetections) this.see([], 0);
    this.update();
  }

  /** The user wants it tried anew. */
  retry(): void {
    this.#failures.forget();
    this.#refused.forget();
    this.update();
    this.#owner.retry();
  }

  close(): void {
    this.attach(null);
    clearTimeout(this.#outOfView);
    clearTimeout(this.#unsee);
    this.#owner.gone(this);
  }

  /** The way that is the best now, and what is to be said now. Called by whatever may change that, and twice a second. */
  update(): void {
    this.#lookAtCamera();
    const facts = this.#ladderFacts();
    const step = this.#owner.stepOf(this.tile);
    this.rung = step === 'still' ? 'stills' : chooseRung(facts, this.wish.rung);
    if (this.#host !== null) this.#showBy(this.rung);
    this.say();
    this.#owner.changed();
  }

  say(): void {
    const next = viewOf(this.#facts(), monotonicMs());
    if (!saysTheSame(this.#view.peek(), next)) this.#view.value = next;
  }

  take(answer: TileAnswer): void {
    this.#answer = answer;
    this.say();
  }

  takeReport(report: TileReport): void {
    this.#report.value = report;
    this.say();
  }

  /** These were detected, and are shown for so long, unless others come before. */
  see(objects: readonly SeenObject[], forMs: number): void {
    clearTimeout(this.#unsee);
    this.#seen.value = forMs === 0 ? [] : objects;
    if (this.#seen.value.length > 0) this.#unsee = setTimeout(() => this.see([], 0), forMs);
  }

  onWorker(message: Extract<FromDecodeWorker, { op: 'fault' | 'canvas-lost' | 'init' | 'fragment' }>): void {
    if (message.op === 'fault') this.#onDecoderFault(message.kind, message.stream);
    else if (message.op === 'canvas-lost') this.#onCanvasLost();
    else if (!(this.#screen instanceof MseScreen)) return;
    else if (message.op === 'init') this.#screen.init(message.mime, message.data);
    else this.#screen.add(message.data, message.wallMs);
  }

  #facts() {
    const report = this.#report?.peek() ?? null;
    const isByWorker = this.rung === 'webcodecs';
    const drawnMs = isByWorker ? this.#onCanvasMs(report) : this.#own.drawnMs;
    return {
      rung: this.rung,
      reason: this.#host === null ? null : this.#reason(),
      step: this.#owner.stepOf(this.tile),
      stream: this.stream,
      problem: this.problem,
      report,
      drawnMs,
      isCameraAway: AWAY_STATES.includes(this.#camera?.state ?? ''),
      sleptMs: this.#owner.sleptMsSince(drawnMs),
      intervalMs: isByWorker
        ? (report?.intervalMs ?? 0)
        : this.rung === 'stills'
          ? this.#stillEveryMs() + STILL_KEYFRAME_MS
          : 500,
      wallMs: isByWorker ? (report?.wallMs ?? 0) : this.#own.wallMs,
      offsetMs: this.#owner.clockOffsetMs(),
    };
  }

  #ladderFacts(): LadderFacts {
    const facts = this.#owner.ladderFacts(this);
    return { ...facts, refusedCodec: this.#refused.rungs, failed: this.#failures.at(monotonicMs()) };
  }

  /** Why that way can't be taken now; null: it can. */
  reasonFor(rung: Rung): RungReason | null {
    return reasonAgainst(rung, this.#ladderFacts());
  }

  #reason() {
    return this.rung === 'webcodecs' ? null : reasonAgainst('webcodecs', this.#ladderFacts());
  }

  #stillEveryMs(): number {
    return this.#owner.stepOf(this.tile) === 'still' ? LOWERED_STILL_EVERY_MS : STILL_EVERY_MS;
  }

  /** What was drawn before there was this canvas isn't on it. */
  #onCanvasMs(report: TileReport | null): number {
    return report === null || report.drawnMs < this.#canvasMs ? 0 : report.drawnMs;
  }

  get #camera() {
    return cameras.peek()?.get(this.wish.cameraId) ?? null;
  }

  /** What its camera sends, as far as a decoder minds. */
  #lookAtCamera(): void {
    const said = (stream: { codec: string; resolution: string } | null | undefined): string =>
      stream?.codec ? `${stream.codec} ${stream.resolution}` : '';
    this.#refused.look(said(this.#camera), said(this.#camera?.sub));
  }

  /** Until the smaller stream comes the larger one goes on, and may be refused again: that says nothing new. */
  #onDecoderFault(kind: 'codec' | 'failed', stream: number): void {
    if (kind === 'codec') {
      if (this.#refused.isSubOnly && this.#refusedStream === stream) return;
      this.#refusedStream = stream;
    }
    this.#onFailed(kind);
  }

  #onFailed(kind: 'codec' | 'failed'): void {
    const isMain = this.stream === 'main';
    const sub = this.#camera?.sub;
    // Of one that nobody asked for yet the codec isn't known: it is tried.
    const maySub = sub?.codec === 'h264' || sub?.codec === '';
    if (kind === 'codec' && isMain && maySub) this.#refused.isSubOnly = true;
    else if (kind === 'codec') this.#refused.rungs.add(this.rung);
    else this.#failures.note(this.rung, monotonicMs());
    this.#screenKey = '';
    this.update();
  }

  #onCanvasLost(): void {
    if (this.rung !== 'webcodecs') return;
    if (this.#canvases.mayRebuild(monotonicMs())) {
      this.#screenKey = '';
      this.update();
    } else this.#onFailed('failed');
  }

  #showBy(rung: Rung): void {
    const isOwn = rung !== 'webcodecs' && rung !== 'mse';
    if (isOwn && this.isAsleep) {
      this.#closeScreen();
      return;
    }
    // Those that fetch by themselves are made anew for another stream; the socket's switch on a keyframe.
    const key = isOwn ? `${rung} ${this.stream} ${this.wish.hasSound} ${this.#stillEveryMs()}` : rung;
    if (key === this.#screenKey) return;
    this.#closeScreen();
    this.#screenKey = key;
    const events: ScreenEvents = {
      onPicture: (wallMs) => {
        this.#own = { drawnMs: monotonicMs(), wallMs };
        this.say();
      },
      onFailed: (kind) => this.#onFailed(kind),
    };
    if (rung === 'webcodecs') {
      this.#put(this.#canvasScreen());
      this.#postPaced();
    } else if (rung === 'mse') {
      this.#owner.post(this, { op: 'fragments', tile: this.tile });
      this.#put(new MseScreen(events));
    } else
      this.#showOwn(rung, key, events).catch(() => {
        if (this.#screenKey === key) this.#onFailed('failed');
      });
  }

  async #showOwn(rung: Exclude<Rung, 'webcodecs' | 'mse'>, key: string, events: ScreenEvents): Promise<void> {
    const make = await makerOf(rung);
    if (this.#screenKey !== key || this.#host === null) return;
    const { cameraId, hasSound } = this.wish;
    const everyMs = this.#stillEveryMs();
    this.#put(make({ ...events, cameraId, stream: this.stream, everyMs, hasSound }));
  }

  #canvasScreen(): Screen {
    this.#canvasMs = monotonicMs();
    const element = document.createElement('canvas');
    const canvas = element.transferControlToOffscreen();
    this.#owner.post(this, { op: 'canvas', tile: this.tile, canvas }, [canvas]);
    this.#postSize();
    return { element, close: () => {} };
  }

  #put(screen: Screen): void {
    this.#screen = screen;
    this.#host?.replaceChildren(screen.element);
  }

  #closeScreen(): void {
    this.#screen?.close();
    this.#screen?.element.remove();
    this.#screen = null;
    this.#screenKey = '';
    this.#own = { drawnMs: 0, wallMs: 0 };
  }

  #measure(): void {
    const widthPx = this.#host?.clientWidth ?? 0;
    const wasStream = this.stream;
    this.#widthPx = widthPx;
    this.#postSize();
    if (this.stream !== wasStream) this.update();
  }

  #postSize(): void {
    const host = this.#host;
    if (host === null) return;
    const scale = this.wish.isFullSize ? 16 : devicePixelRatio;
    const size: TileSize = { width: host.clientWidth * scale, height: host.clientHeight * scale };
    if (size.width > 0 && size.height > 0) this.#owner.post(this, { op: 'size', tile: this.tile, size });
  }

  #postPaced(): void {
    if (this.rung !== 'webcodecs' || this.#screen === null) return;
    this.#owner.post(this, { op: 'paced', tile: this.tile, isPaced: this.wish.isPaced });
  }

  #onView(isIntersecting: boolean): void {
    clearTimeout(this.#outOfView);
    if (isIntersecting || this.#isInView === null) this.#setInView(isIntersecting);
    else this.#outOfView = setTimeout(() => this.#setInView(false), OUT_OF_VIEW_MS);
  }

  #setInView(isInView: boolean): void {
    this.#isInView = isInView;
    this.update();
  }
}
