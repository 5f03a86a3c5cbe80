import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { AppError } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Answers } from '../answers.js';
import { closeCode } from '../handshakes.js';
import { headBytes, PING_BYTES, TEXT, writeHead, writePing } from '../socket-frame.js';
import { Allowance } from './allowance.js';
import { Backlog } from './backlog.js';
import type { FrameMessages } from './frame-messages.js';
import { Governor, type TileMode } from './governor.js';
import type { ProblemOf, WallGuest } from './guest.js';
import { Outbox } from './outbox.js';
import { readTaken, readTiles, type WantedTile, type WantedTiles } from './page-messages.js';
import type { Source } from './source.js';
import { Tile } from './tile.js';
import { type Drops, type StreamSink, WallStream } from './wall-stream.js';

/** A page that would take what is sent now later than this is behind. */
const MAX_LAG_MS = 1_000;
/** It has caught up when what it wasn't sent is no older. */
const RECOVERED_MS = 500;
/** One that took its backlog in this time since it began to take again can see now at once. */
const FAST_DRAIN_MS = 500;
/** Nor may it have more than this to take, or to be taken by the kernel. */
const MAX_BACKLOG_BYTES = 8 << 20;
const MAX_PENDING_BYTES = 4 << 20;
/** With so much to take, pictures that aren't live wait in their rings, where they cost nothing. */
const MAX_CATCH_UP_BACKLOG_BYTES = 1 << 20;
/** So much of one stream at a time, about a keyframe: the others are waiting for their first picture, too. */
const CATCH_UP_PIECE_BYTES = 64 << 10;
/** What takes nothing for this long is closed. */
const STALL_LIMIT_MS = 30_000;
const PING_EVERY_MS = 10_000;
const REPORT_EVERY_MS = 1_000;
/** With so much waiting in our own memory no more text is added. */
const MAX_UNREAD_TEXT_BYTES = 256 << 10;
/** After so much text for its questions a page is asked by a ping whether it reads; with so much more it doesn't. */
const CHECKED_ANSWER_BYTES = 128 << 10;
const MAX_UNREAD_ANSWER_BYTES = 1 << 20;
const RESET = '{"op":"reset"}';

export type WallDeps = {
  readonly frames: FrameMessages;
  readonly log: Logger;
  readonly problemOf: ProblemOf;
  /** What a tile of this camera and stream shows. */
  sourceOf(tile: WantedTile): Source;
  dropsOf(key: string): Drops;
  /** The page needs this source no more. */
  onLeft(source: Source): void;
  /** Somebody shows more or less than before. */
  onChange(): void;
  nowMs(): number;
};

/** One page with its tiles. */
export class Wall implements StreamSink {
  isBehind = false;
  readonly guest: WallGuest;
  readonly #webSocket: WebSocket;
  readonly #deps: WallDeps;
  readonly #outbox: Outbox;
  readonly #backlog = new Backlog();
  readonly #governor = new Governor();
  readonly #allowance = new Allowance();
  readonly #answers = new Answers();
  readonly #tiles = new Map<number, Tile>();
  /** By the key of their source. */
  readonly #streams = new Map<string, WallStream>();
  /** Those that catch up, in turns. */
  readonly #catchingUp: WallStream[] = [];
  #rev = 0;
  #spared: WallStream | null = null;
  #drainingMs: number | null = null;
  #reportedMs = 0;
  #hasEnded = false;
  /** All text so far; and that for what it asked since it had answered all pings. */
  #saidBytes = 0;
  #unreadAnswerBytes = 0;
  /** Of the last event that it heard of. */
  #eventPosition: number;
  readonly #unlisten: () => void;

  constructor(webSocket: WebSocket, socket: Duplex, guest: WallGuest, deps: WallDeps) {
    this.#webSocket = webSocket;
    this.guest = guest;
    this.#deps = deps;
    this.#outbox = new Outbox(socket);
    this.#unlisten = guest.events.listen(() => {
      this.#tellEvents();
      this.flush();
    });
    this.#eventPosition = guest.events.position;
    webSocket.on('message', (data: Buffer, isBinary) => this.#onMessage(data, isBinary));
    webSocket.on('pong', (payload: Buffer) => {
      if (this.#answers.ponged(payload) && this.#answers.isComplete) this.#unreadAnswerBytes = 0;
    });
  }

  /** Whether shared memory is still read for it. */
  get isSending(): boolean {
    return this.#outbox.pendingBytes > 0 || !this.#outbox.isEmpty;
  }

  isSpared(stream: WallStream): boolean {
    // What a page says of itself need not be so: what the kernel hasn't taken is ours to hold.
    const hasRoom = this.#backlog.bytes < MAX_BACKLOG_BYTES && this.#outbox.pendingBytes < MAX_PENDING_BYTES;
    return stream === this.#spared && hasRoom;
  }

  add(bytes: Buffer, start: number, end: number, payloadBytes: number): void {
    this.#outbox.add(bytes, start, end);
    this.#backlog.sent(payloadBytes, this.#deps.nowMs());
  }

  queueCatchUp(stream: WallStream): void {
    if (!this.#catchingUp.includes(stream)) this.#catchingUp.push(stream);
  }

  onFirstFrame(stream: WallStream): void {
    for (const tile of this.#tiles.values()) tile.switchTo(stream);
    this.#settle();
  }

  /** Sends a text message. */
  say(text: string): void {
    if (this.#hasEnded) return;
    const payload = Buffer.from(text);
    const { memory } = this.#deps.frames;
    const totalBytes = headBytes(payload.length) + payload.length;
    const start = memory.take(totalBytes);
    payload.copy(memory.bytes, writeHead(memory.bytes, start, TEXT, payload.length));
    this.#outbox.add(memory.bytes, start, start + totalBytes);
    this.#saidBytes += totalBytes;
  }

  /** Something was detected at a camera: told to who wants it and keeps up, and else forgotten, as it is soon old. */
  tellSeen(camera: string, text: () => string): void {
    if (this.#hasEnded || this.isBehind || this.#outbox.pendingBytes > MAX_UNREAD_TEXT_BYTES) return;
    for (const { wanted, hasPlace } of this.#tiles.values()) {
      if (wanted.camera !== camera || !wanted.detections || wanted.mode === 'off' || !hasPlace) continue;
      this.say(text());
      this.flush();
      return;
    }
  }

  /** Sees whether the page keeps up; before frames are sent. */
  look(nowMs: number): void {
    const lagMs = this.#backlog.lagMs(nowMs);
    const isTooMuch =
      this.#backlog.bytes > MAX_BACKLOG_BYTES || this.#outbox.pendingBytes > MAX_PENDING_BYTES;
    if (!this.isBehind && (lagMs > MAX_LAG_MS || isTooMuch)) this.#fallBehind(nowMs);
    else if (this.isBehind && lagMs < RECOVERED_MS && !isTooMuch) this.#recover(nowMs);
  }

  /** Sends a piece for each stream in turn, as long as there is time. */
  catchUp(hasTime: () => boolean): void {
    for (let turns = this.#catchingUp.length; turns > 0 && hasTime(); turns -= 1) {
      if (this.#backlog.bytes > MAX_CATCH_UP_BACKLOG_BYTES) return;
      const stream = this.#catchingUp.shift()!;
      if (stream.catchUp(this.#deps.frames, CATCH_UP_PIECE_BYTES)) this.queueCatchUp(stream);
    }
  }

  flush(): void {
    // After a close frame nothing may follow (RFC 6455 §5.5.1).
    if (this.#webSocket.readyState === WebSocket.OPEN) this.#outbox.flush();
    else this.#outbox.clear();
  }

  /** Several times a second. */
  tick(nowMs: number): void {
    if (this.#hasEnded) return;
    if (this.#backlog.ageMs(nowMs) > STALL_LIMIT_MS || this.#answers.lagMs(nowMs) > STALL_LIMIT_MS) {
      this.#deps.log.info('a wall takes nothing', { user: this.guest.username });
      this.end(closeCode.tryAgainLater, 'nothing was taken for 30 s');
      return;
    }
    if (this.isBehind) this.#governor.hold(nowMs);
    else if (this.#governor.raise(this.#streams.size, nowMs)) this.#settle();
    if (nowMs - this.#reportedMs >= REPORT_EVERY_MS) this.#report(nowMs);
    this.#tellEvents();
    const isPingDue =
      this.#answers.sincePingMs(nowMs) > PING_EVERY_MS || this.#unreadAnswerBytes > CHECKED_ANSWER_BYTES;
    if (this.#answers.isComplete && isPingDue) this.#ping(nowMs);
    this.flush();
  }

  /** The camera's tiles show nothing more, for this reason. */
  endSource(source: Source, thrown: unknown): void {
    const stream = this.#streams.get(source.key);
    if (stream === undefined) return;
    for (const tile of this.#tiles.values()) {
      if (tile.uses(stream)) tile.release(this.#deps.problemOf(thrown));
    }
    this.#settle();
    this.flush();
  }

  /** Says why, and sends nothing more. */
  end(code: number, reason: string): void {
    if (this.#hasEnded) return;
    this.flush();
    this.leave();
    this.#webSocket.close(code, reason);
  }

  /** The page has gone. */
  leave(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#unlisten();
    for (const tile of this.#tiles.values()) tile.release(null);
    this.#tiles.clear();
    this.#settle();
    this.#outbox.clear();
  }

  #onMessage(data: Buffer, isBinary: boolean): void {
    if (this.#hasEnded) return;
    const nowMs = this.#deps.nowMs();
    if (!this.#allowance.take(nowMs)) {
      this.end(closeCode.policyViolated, 'too many messages');
    } else if (this.#unreadAnswerBytes > MAX_UNREAD_ANSWER_BYTES) {
      this.end(closeCode.tryAgainLater, 'too much is unread');
    } else if (isBinary) {
      const taken = readTaken(data);
      if (taken !== null) this.#onTaken(taken, nowMs);
    } else {
      const saidBytes = this.#saidBytes;
      const wanted = readTiles(data.toString());
      if (typeof wanted === 'string') this.#refuse(wanted);
      else this.#show(wanted);
      this.#unreadAnswerBytes += this.#saidBytes - saidBytes;
      this.flush();
    }
  }

  #onTaken({ messages, bytes }: { messages: number; bytes: number }, nowMs: number): void {
    const before = this.#backlog.bytes;
    if (!this.#backlog.taken(messages, bytes, nowMs)) return;
    if (this.isBehind && this.#backlog.bytes < before) this.#drainingMs ??= nowMs;
  }

  #refuse(detail: string): void {
    const problem = this.#deps.problemOf(new AppError('invalid_input', detail));
    this.say(JSON.stringify({ op: 'problem', problem }));
  }

  #show({ rev, tiles }: WantedTiles): void {
    this.#rev = rev;
    const numbers = new Set(tiles.map(({ tile }) => tile));
    for (const [number, tile] of this.#tiles) {
      if (numbers.has(number)) continue;
      tile.release(null);
      this.#tiles.delete(number);
    }
    for (const wanted of tiles.toSorted((a, b) => b.priority - a.priority)) this.#want(wanted);
    this.#settle();
  }

  #want(wanted: WantedTile): void {
    const tile = this.#tiles.get(wanted.tile) ?? new Tile(wanted);
    this.#tiles.set(wanted.tile, tile);
    if (tile.wanted.camera !== wanted.camera) tile.release(null);
    tile.wanted = wanted;
    tile.problem = null;
    try {
      if (!tile.hasPlace) this.#takePlace(tile);
      if (wanted.mode === 'off') tile.showNothing();
      else this.#showSource(tile, this.#deps.sourceOf(wanted));
    } catch (thrown) {
      tile.release(this.#deps.problemOf(thrown));
    }
  }

  #takePlace(tile: Tile): void {
    const place = this.guest.watch(tile.wanted.camera);
    tile.hold(place);
    place.onEnd((reason) => {
      if (this.#hasEnded) return;
      const isGone = reason === 'camera_deleted';
      const thrown = isGone ? gone() : new AppError('forbidden', 'access was withdrawn');
      tile.release(this.#deps.problemOf(thrown));
      this.#settle();
      this.flush();
    });
  }

  #showSource(tile: Tile, source: Source): void {
    let stream = this.#streams.get(source.key);
    if (stream === undefined) {
      stream = new WallStream(source, this, this.#deps.dropsOf(source.key));
      source.streams.push(stream);
      this.#streams.set(source.key, stream);
    }
    tile.show(stream);
  }

  /** Brings the streams in line with the tiles: which there are, what is sent of each. */
  #settle(): void {
    const wanted = new Map<WallStream, TileMode>();
    for (const stream of this.#streams.values()) {
      stream.tileCount = 0;
      stream.priority = 0;
      stream.hears = false;
      wanted.set(stream, 'off');
    }
    for (const tile of this.#tiles.values()) {
      const { mode, priority, sound } = tile.wanted;
      const { shown, next } = tile;
      if (shown !== null && sound) shown.hears = true;
      const goal = next ?? shown;
      if (goal !== null) goal.tileCount += 1;
      for (const stream of [shown, next]) {
        if (stream === null) continue;
        stream.priority = Math.max(stream.priority, priority);
        wanted.set(stream, more(wanted.get(stream), mode));
      }
    }
    for (const [stream, mode] of wanted) if (mode === 'off') this.#drop(stream);
    const ranked = [...this.#streams.values()].sort((a, b) => a.priority - b.priority);
    this.#spared = ranked.at(-1) ?? null;
    // The most important ones first: they catch up in this order.
    for (let rank = ranked.length - 1; rank >= 0; rank -= 1) {
      const stream = ranked[rank]!;
      const mode = wanted.get(stream) ?? 'off';
      stream.setMode(mode, this.#governor.modeOf(mode, rank, ranked.length));
    }
    this.#tell();
    this.#deps.onChange();
  }

  /** Tells of each tile that stands otherwise than the page was told. */
  #tell(): void {
    for (const tile of this.#tiles.values()) {
      const text = tile.news(this.#rev, () => this.#deps.problemOf(noPicture()));
      if (text !== null) this.say(text);
    }
  }

  #drop(stream: WallStream): void {
    const { source } = stream;
    stream.close();
    this.#streams.delete(source.key);
    source.streams.splice(source.streams.indexOf(stream), 1);
    const waiting = this.#catchingUp.indexOf(stream);
    if (waiting !== -1) this.#catchingUp.splice(waiting, 1);
    this.#deps.onLeft(source);
  }

  #fallBehind(nowMs: number): void {
    this.isBehind = true;
    this.#drainingMs = null;
    this.#catchingUp.length = 0;
    for (const stream of this.#streams.values()) stream.hold();
    this.#governor.lower(this.#streams.size, nowMs);
    this.#settle();
    this.#report(nowMs);
  }

  #recover(nowMs: number): void {
    this.isBehind = false;
    const isFast = this.#drainingMs !== null && nowMs - this.#drainingMs < FAST_DRAIN_MS;
    if (isFast) for (const stream of this.#streams.values()) stream.startCatchUp();
  }

  /** Tells of what happened; a page that doesn't read hears of it later, or that it has to look at everything anew. */
  #tellEvents(): void {
    if (this.#hasEnded || this.isBehind || this.#outbox.pendingBytes > MAX_UNREAD_TEXT_BYTES) return;
    const { events } = this.guest;
    const news = events.since(this.#eventPosition);
    this.#eventPosition = news?.position ?? events.position;
    if (news === null) this.say(RESET);
    else for (const text of news.texts) this.say(`{"op":"event",${text.slice(1)}`);
  }

  /** Tells of what was lost. */
  #report(nowMs: number): void {
    this.#reportedMs = nowMs;
    for (const stream of this.#streams.values()) {
      const lost = stream.takeLosses();
      if (lost !== null)
        this.say(JSON.stringify({ op: 'lost', stream: stream.source.numbers.picture, ...lost }));
    }
  }

  #ping(nowMs: number): void {
    const { memory } = this.#deps.frames;
    const start = memory.take(PING_BYTES);
    writePing(memory.bytes, start, nowMs);
    this.#outbox.add(memory.bytes, start, start + PING_BYTES);
    this.#answers.pinged(nowMs);
  }
}

/** What two tiles want of one stream. */
const more = (a: TileMode = 'off', b: TileMode): TileMode => {
  if (a === 'all' || b === 'all') return 'all';
  return a === 'key' || b === 'key' ? 'key' : 'off';
};

const gone = (): AppError => new AppError('not_found', 'the camera was deleted');
const noPicture = (): AppError => new AppError('no_picture', 'the camera has sent no picture yet');
