import { effect, signal } from '@preact/signals';
import { onHappening, tellHappening } from '../data/happenings.js';
import { pictureSocket } from '../data/happenings-feed.js';
import { noteServiceTick, serviceClock, serviceNowMs } from '../data/service-clock.js';
import { api, me, refreshMe } from '../data/session.js';
import type { WantedTile } from '../socket/decoder-messages.js';
import type { FromSocketWorker, SocketState, ToSocketWorker } from '../socket/socket-messages.js';
import type { FromDecodeWorker } from './decode-messages.js';
import { Decoders, whenNotLoaded } from './decoders.js';
import { Governor, type Load } from './governor.js';
import type { LadderFacts } from './ladder.js';
import { Sleeps } from './lag.js';
import { LiveTile, type TileOwner, type TileWish } from './live-tile.js';
import { monotonicMs } from './monotonic.js';
import { hasMse } from './mse-screen.js';
import { type Seen, shownForMs } from './seen.js';
import { Sound } from './sound.js';

const HIDDEN_AFTER_MS = 5_000;
const LOOK_EVERY_MS = 500;
const GOVERN_EVERY_MS = 1_000;
const SEND_AFTER_MS = 10;
/** Tiles that were refused are asked for again, at first soon, later once a minute. */
const ASK_AGAIN_MS = 1_000;
const MAX_ASK_AGAIN_MS = 60_000;
/** Nothing else is tried meanwhile. */
const TOKEN_WITHIN_MS = 8_000;
const NO_LOAD: Load = { queued: 0, decodeMs: 0, lateMs: 0 };

const wishOf = (cameraId: string): TileWish => ({
  ...{ cameraId, stream: 'auto', importance: 0, hasSound: false, rung: null },
  hasDetections: false,
  ...{ isFullSize: false, isPaced: false },
});

type Connection = { readonly saveData?: boolean };

/** All live pictures of the page: one socket, its decoders, and what of each tile is shown. */
export class LivePlayer implements TileOwner {
  /** How the socket is. */
  readonly socket = signal<SocketState>({ state: 'closed' });
  readonly sound = new Sound();
  isHidden = false;
  /** A part of the page could not be loaded: the service has another version by now. */
  readonly isOutdated = signal(false);
  readonly #broken = new Set<number>();
  readonly #tiles = new Map<number, LiveTile>();
  readonly #governor = new Governor();
  readonly #sleeps = new Sleeps();
  readonly #decoders: Decoders;
  readonly #worker: Worker;
  #lastTile = 0;
  #sent = '';
  #sending: ReturnType<typeof setTimeout> | undefined;
  #asking: ReturnType<typeof setTimeout> | undefined;
  #askAgainMs = ASK_AGAIN_MS;
  #isOpen = false;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #load = NO_LOAD;

  constructor() {
    this.#worker = new Worker(new URL('../socket/socket-worker.ts', import.meta.url), { type: 'module' });
    this.#worker.onmessage = ({ data }: MessageEvent<FromSocketWorker>) => this.#onSocket(data);
    whenNotLoaded(this.#worker, () => {
      this.isOutdated.value = true;
      this.#onState({ state: 'blocked' });
    });
    this.#decoders = new Decoders({
      onMessage: (message) => this.#onDecoder(message),
      onNotLoaded: (decoder) => {
        this.isOutdated.value = true;
        this.#broken.add(decoder);
        for (const tile of this.#tiles.values()) tile.update();
      },
      onWorker: (decoder, port) => this.#tell({ op: 'decoder', decoder, port }, [port]),
    });
    setInterval(() => this.#look(), LOOK_EVERY_MS);
    setInterval(() => this.#govern(), GOVERN_EVERY_MS);
    addEventListener('online', () => this.#tell({ op: 'wake', isNew: true }));
    document.addEventListener('resume', () => this.#tell({ op: 'wake', isNew: true }));
    document.addEventListener('visibilitychange', () => this.#onVisibility());
    onHappening((happening) => {
      // The service answers again: its socket needn't wait for its own next try.
      if (happening.topic === 'reset') this.#tell({ op: 'wake', isNew: false });
      else if (happening.topic === 'config' && happening.id.startsWith('cameras/'))
        this.#askAgain(ASK_AGAIN_MS / 4);
    });
  }

  /** Another tile; whoever made it closes it. */
  add(wish: Partial<TileWish> & { readonly cameraId: string }): LiveTile {
    this.#lastTile = (this.#lastTile + 1) % 0xffff;
    const tile = this.#lastTile;
    const decoder = this.#decoders.place(tile, wish.cameraId);
    const made = new LiveTile(tile, decoder, { ...wishOf(wish.cameraId), ...wish }, this);
    this.#tiles.set(tile, made);
    return made;
  }

  /** Tries at once what would be tried later. */
  retry(): void {
    this.#tell({ op: 'wake', isNew: false });
    this.#askAgain(0);
  }

  /** Another user: with a socket of their own. */
  begin(): void {
    if (this.#isOpen) this.#tell({ op: 'wake', isNew: true });
  }

  /** Nobody is signed in any more. */
  close(): void {
    this.#isOpen = false;
    this.#tell({ op: 'close' });
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const url = new URL('/stream/wall', location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    this.#tell({ op: 'open', url: url.href });
  }

  ladderFacts(tile: LiveTile): Omit<LadderFacts, 'refusedCodec' | 'failed'> {
    const taken = (rung: string): number =>
      [...this.#tiles.values()].filter((each) => each !== tile && each.rung === rung && !each.isAsleep)
        .length;
    return {
      isSecure: isSecureContext,
      hasWebCodecs: 'VideoDecoder' in globalThis && 'OffscreenCanvas' in globalThis,
      hasMse: hasMse(),
      hasWebRtc: 'RTCPeerConnection' in globalThis,
      hasHls: true,
      isSocketBlocked: this.socket.peek().state === 'blocked' || this.#broken.has(tile.decoder),
      whepTaken: taken('whep'),
      hlsTaken: taken('hls'),
    };
  }

  stepOf(tile: number) {
    return this.#governor.stepOf(tile);
  }

  clockOffsetMs(): number | null {
    const known = serviceClock();
    return known === null ? null : -known.offsetMs;
  }

  sleptMsSince(ms: number): number {
    return this.#sleeps.since(ms);
  }

  post(...[tile, message, transfer]: Parameters<TileOwner['post']>): void {
    this.#decoders.post(tile.decoder, message, transfer);
  }

  changed(): void {
    clearTimeout(this.#sending);
    this.#sending = setTimeout(() => this.#send(), SEND_AFTER_MS);
  }

  gone({ tile }: LiveTile): void {
    this.#tiles.delete(tile);
    this.#decoders.leave(tile);
    this.changed();
  }

  #tell(message: ToSocketWorker, transfer: Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  #wanted(): readonly WantedTile[] {
    const savesData = (navigator as { connection?: Connection }).connection?.saveData === true;
    return [...this.#tiles.values()].map((tile) => {
      const isOff = tile.isAsleep || !tile.isBySocket;
      const isKeysOnly = savesData || this.stepOf(tile.tile) === 'key';
      return {
        tile: tile.tile,
        camera: tile.wish.cameraId,
        stream: tile.stream,
        mode: isOff ? 'off' : isKeysOnly ? 'key' : 'all',
        priority: tile.wish.importance,
        sound: tile.wish.hasSound && !isOff,
        detections: tile.wish.hasDetections,
        decoder: tile.decoder,
      };
    });
  }

  #send(isAnyhow = false): void {
    const tiles = this.#wanted();
    const text = JSON.stringify(tiles);
    if (text === this.#sent && !isAnyhow) return;
    this.#sent = text;
    this.#tell({ op: 'tiles', tiles });
  }

  #askAgain(afterMs: number): void {
    clearTimeout(this.#asking);
    this.#asking = setTimeout(() => {
      this.#asking = undefined;
      this.#send(true);
    }, afterMs);
  }

  #onSocket(message: FromSocketWorker): void {
    if (message.op === 'wants-token') void this.#bringToken();
    else if (message.op === 'state') this.#onState(message.state);
    else if (message.op === 'tick') noteServiceTick(message.serverMs, message.atMs);
    else if (message.op === 'happening') tellHappening(message.happening);
    else if (message.op === 'seen') this.#onSeen(message.camera, message.seen);
    else if (message.op === 'sound') this.sound.take(message.data);
    else if (message.op === 'tile') {
      const { answer } = message;
      this.#tiles.get(answer.tile)?.take(answer);
      if (answer.problem !== null && answer.problem.code !== 'no_picture') this.#askLater();
    }
  }

  /** Once for all that are refused meanwhile. */
  #askLater(): void {
    if (this.#asking !== undefined) return;
    this.#askAgain(this.#askAgainMs);
    this.#askAgainMs = Math.min(this.#askAgainMs * 4, MAX_ASK_AGAIN_MS);
  }

  #onSeen(camera: string, seen: Seen): void {
    const forMs = shownForMs(seen.atMs, serviceClock() === null ? null : serviceNowMs());
    for (const tile of this.#tiles.values())
      if (tile.wish.cameraId === camera && tile.wish.hasDetections) tile.see(seen.objects, forMs);
  }

  async #bringToken(): Promise<void> {
    try {
      const { token } = await api<{ token: string }>('GET', '/api/wall-token', {
        timeoutMs: TOKEN_WITHIN_MS,
      });
      this.#tell({ op: 'token', token });
    } catch {
      this.#tell({ op: 'token', token: null });
    }
  }

  #onState(state: SocketState): void {
    const wasOpen = this.socket.peek().state === 'open';
    this.socket.value = state;
    pictureSocket.value = state.state;
    // Events are told from now on: what changed before has to be looked at.
    if (state.state === 'open') {
      this.#askAgainMs = ASK_AGAIN_MS;
      tellHappening({ topic: 'reset' });
    } else if (state.state === 'refused') void refreshMe().catch(() => {});
    if (wasOpen !== (state.state === 'open') || state.state === 'blocked')
      for (const tile of this.#tiles.values()) tile.update();
  }

  #onDecoder(message: FromDecodeWorker): void {
    if (message.op === 'report') {
      const { load, tiles } = message;
      this.#load = {
        queued: Math.max(this.#load.queued, load.queued),
        decodeMs: Math.max(this.#load.decodeMs, load.decodeMs),
        lateMs: Math.max(this.#load.lateMs, load.lateMs),
      };
      for (const report of tiles) this.#tiles.get(report.tile)?.takeReport(report);
    } else if (message.op === 'first') this.#tiles.get(message.report.tile)?.takeReport(message.report);
    else this.#tiles.get(message.tile)?.onWorker(message);
  }

  /** Ages go on though nothing comes; ways that failed are tried again. */
  #look(): void {
    this.#sleeps.note(monotonicMs(), Date.now());
    if (this.isHidden) return;
    for (const tile of this.#tiles.values()) tile.update();
  }

  #govern(): void {
    const load = this.#load;
    this.#load = NO_LOAD;
    if (document.hidden) return;
    const tiles = [...this.#tiles.values()].filter(({ isAsleep }) => !isAsleep);
    const governed = tiles.map(({ tile, wish, wholeStream }) => ({
      ...{ tile, importance: wish.importance, hasSmaller: wholeStream === 'main' && !wish.isFullSize },
    }));
    if (this.#governor.look(performance.now(), load, governed)) for (const tile of tiles) tile.update();
  }

  #onVisibility(): void {
    clearTimeout(this.#hiding);
    if (document.hidden) {
      this.#hiding = setTimeout(() => this.#hide(true), HIDDEN_AFTER_MS);
      return;
    }
    this.#hide(false);
    this.#tell({ op: 'wake', isNew: false });
  }

  #hide(isHidden: boolean): void {
    this.isHidden = isHidden;
    for (const tile of this.#tiles.values()) tile.update();
  }
}

let player: LivePlayer | null = null;

/** The page's one player, from the first picture on. */
export const livePlayer = (): LivePlayer => {
  if (player === null) {
    const made = new LivePlayer();
    player = made;
    let owner = me.peek()?.username;
    effect(() => {
      const name = me.value?.username;
      if (name === undefined) made.close();
      // The socket of who was here before may show what isn't for who is here now.
      else if (name !== owner) made.begin();
      owner = name;
    });
  }
  player.open();
  return player;
};
