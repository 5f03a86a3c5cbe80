import type { FromDecoder, ToDecoder } from '../socket/decoder-messages.js';
import type { FromDecodeWorker, ToDecodeWorker } from './decode-messages.js';
import { DecodedTile } from './decoded-tile.js';
import { FragmentMaker } from './fragment-maker.js';
import { type ConfigMessage, readMessage, type StreamMessage } from './messages.js';
import { StreamDecoder } from './stream-decoder.js';

const REPORT_EVERY_MS = 500;
const ACCOUNT_EVERY_MS = 100;
const MAX_GONE = 256;

type Post = (message: FromDecodeWorker, transfer?: readonly Transferable[]) => void;

type Stream = {
  readonly decoder: StreamDecoder;
  readonly fragments: Map<number, FragmentMaker>;
  config: ConfigMessage | null;
};

/** The tiles of one worker: messages of the socket's worker in, pictures on canvases out. */
export class DecodeTiles {
  readonly #post: Post;
  readonly #tiles = new Map<number, DecodedTile>();
  readonly #streams = new Map<number, Stream>();
  /** An answer that was on its way brings none of them back. */
  readonly #gone = new Set<number>();
  #port: MessagePort | null = null;
  #connection = 0;
  #taken = { messages: 0, bytes: 0 };
  #accounted = 0;
  #hardware = 0;
  #isPainting = false;
  #lastReportMs = performance.now();

  constructor(post: Post) {
    this.#post = post;
    setInterval(() => this.#report(), REPORT_EVERY_MS);
    setInterval(() => this.#account(), ACCOUNT_EVERY_MS);
  }

  take(message: ToDecodeWorker): void {
    if (message.op === 'socket') {
      this.#port = message.port;
      message.port.onmessage = ({ data }: MessageEvent<ToDecoder>) => this.#hear(data);
      return;
    }
    if (message.op === 'limits') {
      this.#hardware = message.hardware;
      return;
    }
    const { tile } = message;
    if (message.op === 'gone') {
      this.#tiles.get(tile)?.close();
      this.#tiles.delete(tile);
      this.#gone.add(tile);
      const [oldest] = this.#gone;
      if (this.#gone.size > MAX_GONE && oldest !== undefined) this.#gone.delete(oldest);
      this.#closeUnused();
      return;
    }
    this.#gone.delete(tile);
    const known = this.#tiles.get(tile) ?? new DecodedTile(tile);
    this.#tiles.set(tile, known);
    if (message.op === 'canvas') {
      known.showOn(message.canvas, () => this.#post({ op: 'canvas-lost', tile }));
      this.#streams.get(known.stream ?? -1)?.decoder.tryAnew();
    } else if (message.op === 'fragments') known.showFragments();
    else if (message.op === 'size') known.resize(message.size);
    else known.isPaced = message.isPaced;
  }

  #hear(message: ToDecoder): void {
    if (message.op === 'connection') {
      this.#connection = message.connection;
      this.#taken = { messages: 0, bytes: 0 };
      for (const tile of this.#tiles.values()) tile.stream = null;
      this.#closeUnused();
    } else if (message.op === 'route') this.#route(message.tile, message.stream, message.isKeysOnly);
    else {
      if (message.op === 'message') {
        this.#taken.messages += 1;
        this.#taken.bytes += message.data.byteLength;
      }
      const read = readMessage(new Uint8Array(message.data));
      if (read !== null) this.#onMessage(read);
    }
  }

  #route(tile: number, stream: number | null, isKeysOnly: boolean): void {
    if (this.#gone.has(tile)) return;
    const known = this.#tiles.get(tile) ?? new DecodedTile(tile);
    this.#tiles.set(tile, known);
    if (known.stream !== stream) known.begin(stream);
    known.isKeysOnly = isKeysOnly;
    if (stream !== null && !this.#streams.has(stream)) this.#open(stream);
    this.#closeUnused();
  }

  #open(stream: number): void {
    const decoder = new StreamDecoder({
      onPicture: ({ frame, wallUs }) => {
        const shown = this.#shownBy(stream).filter(({ hasCanvas }) => hasCanvas);
        for (const [at, tile] of shown.entries())
          tile.offer(at === shown.length - 1 ? frame : frame.clone(), wallUs / 1_000, decoder.isSettling);
        if (shown.length === 0) frame.close();
        else this.#paintSoon();
      },
      onFault: (kind, message) => {
        for (const { tile, hasCanvas } of this.#shownBy(stream))
          if (hasCanvas) this.#post({ op: 'fault', tile, stream, kind, message });
      },
      freeHardware: () =>
        this.#hardware - [...this.#streams.values()].filter((each) => each.decoder.hasHardware).length,
    });
    this.#streams.set(stream, { decoder, fragments: new Map(), config: null });
  }

  #shownBy(stream: number): DecodedTile[] {
    return [...this.#tiles.values()].filter((tile) => tile.stream === stream);
  }

  #closeUnused(): void {
    for (const [stream, { decoder }] of this.#streams) {
      if (this.#shownBy(stream).length > 0) continue;
      decoder.close();
      this.#streams.delete(stream);
    }
  }

  #onMessage(message: StreamMessage): void {
    const stream = this.#streams.get(message.stream);
    if (stream === undefined || message.kind === 'gap') return;
    const tiles = this.#shownBy(message.stream);
    const isDecoded = tiles.some(({ hasCanvas }) => hasCanvas);
    if (message.kind === 'config') {
      stream.config = message;
      stream.decoder.takeConfig(message);
    } else {
      const isKeysOnly = tiles.every((tile) => tile.isKeysOnly);
      stream.decoder.takeFrame(message, isDecoded, isKeysOnly);
    }
    for (const tile of tiles) if (tile.wantsFragments) this.#toFragments(stream, tile, message);
  }

  #toFragments(stream: Stream, shown: DecodedTile, message: Exclude<StreamMessage, { kind: 'gap' }>): void {
    const { tile } = shown;
    let maker = stream.fragments.get(tile);
    if (maker === undefined) {
      maker = new FragmentMaker({
        onInit: (mime, { buffer: data }) => this.#post({ op: 'init', tile, mime, data }, [data]),
        onFragment: ({ buffer: data }, wallMs) => {
          shown.note(wallMs);
          this.#post({ op: 'fragment', tile, wallMs, data }, [data]);
        },
      });
      stream.fragments.set(tile, maker);
      if (stream.config !== null) maker.takeConfig(stream.config);
    }
    if (message.kind === 'config') maker.takeConfig(message);
    else maker.takeFrame(message);
  }

  /** The newest picture of each tile, when the screen takes one. */
  #paintSoon(): void {
    if (this.#isPainting) return;
    this.#isPainting = true;
    requestAnimationFrame(() => {
      this.#isPainting = false;
      for (const tile of this.#tiles.values()) {
        if (!tile.paint()) continue;
        const report = tile.isFirst ? this.#reportOf(tile) : null;
        tile.isFirst = false;
        if (report !== null) this.#post({ op: 'first', report });
      }
      if ([...this.#tiles.values()].some(({ isWaiting }) => isWaiting)) this.#paintSoon();
    });
  }

  #account(): void {
    const count = this.#taken.messages;
    if (this.#port === null || (count === this.#accounted && count > 0)) return;
    this.#accounted = count;
    const message: FromDecoder = { op: 'taken', connection: this.#connection, ...this.#taken };
    this.#port.postMessage(message);
  }

  #reportOf(tile: DecodedTile) {
    const stream = this.#streams.get(tile.stream ?? -1);
    return stream === undefined ? null : tile.report(stream.decoder);
  }

  #report(): void {
    const nowMs = performance.now();
    const lateMs = Math.max(0, nowMs - this.#lastReportMs - REPORT_EVERY_MS);
    this.#lastReportMs = nowMs;
    const decoders = [...this.#streams.values()].map(({ decoder }) => decoder);
    for (const decoder of decoders) decoder.look();
    const settled = decoders.filter(({ isSettling }) => !isSettling);
    const load = {
      queued: Math.max(0, ...settled.map(({ queued }) => queued)),
      decodeMs: Math.max(0, ...settled.map(({ slowestMs }) => slowestMs)),
      lateMs,
    };
    for (const decoder of decoders) decoder.slowestMs = 0;
    const tiles = [...this.#tiles.values()].flatMap((tile) => this.#reportOf(tile) ?? []);
    this.#post({ op: 'report', load, tiles });
  }
}
