import type { Happening } from '../data/happenings.js';
import { monotonicMs } from '../player/monotonic.js';
import type { SeenObject } from '../player/seen.js';
import { Backoff } from './backoff.js';
import type { FromDecoder, WantedTile } from './decoder-messages.js';
import { Routes } from './routes.js';
import type { FromSocketWorker, SocketState, ToSocketWorker } from './socket-messages.js';
import { TakenCount, takenMessage } from './taken.js';
import type { TileProblem } from './tile-answer.js';

const ACKNOWLEDGE_EVERY_MS = 250;
const LOOK_EVERY_MS = 1_000;
/** A timer that comes so late slept, with the machine or the page. */
const ASLEEP_MS = 5_000;
const TICK_WITHIN_MS = 12_000;
const OPEN_WITHIN_MS = 10_000;
const TOKEN_WITHIN_MS = 15_000;
/**
 * So many tries in a row that brought nothing, though the service gave a token for each: something in between forbids
 * it. One that is swallowed takes long, and says as much as two that are refused.
 */
const BLOCKED_AFTER = 4;
const SWALLOWED = 2;
const REFUSED = 4403;
/** The part of what this worker takes itself: sound, and what nobody shows. */
const OWN_PART = -1;

type ServiceText = {
  readonly op: string;
  readonly tile?: number;
  readonly stream?: number | null;
  readonly sound?: number | null;
  readonly mode?: 'all' | 'key' | 'off';
  readonly problem?: TileProblem;
  readonly frames?: number;
  readonly reason?: string;
  readonly topic?: string;
  readonly id?: string;
  readonly set?: object;
  readonly server_ms?: number;
  readonly camera?: string;
  readonly at_ms?: number;
  readonly objects?: readonly SeenObject[];
};

type Post = (message: FromSocketWorker, transfer?: readonly Transferable[]) => void;

/** Browsers warn of one that is closed before it was open: it ends once it is, or when it can't be any more. */
const letGo = (socket: WebSocket): void => {
  if (socket.readyState === WebSocket.CONNECTING) {
    socket.onopen = () => socket.close();
    setTimeout(() => socket.close(), OPEN_WITHIN_MS);
  } else socket.close();
};

/** The wall's socket: opened anew whenever it ends, with all that the page wants. */
export class WallSocket {
  readonly #post: Post;
  readonly #routes = new Routes();
  readonly #taken = new TakenCount();
  readonly #backoff = new Backoff();
  #url = '';
  #socket: WebSocket | null = null;
  #connection = 0;
  #rev = 0;
  #wanted: readonly WantedTile[] = [];
  #own = { messages: 0, bytes: 0 };
  #lastHeardMs = 0;
  #lastLookMs = 0;
  #inVain = 0;
  /** Whether this socket brought anything: some networks let it open and hold back what follows. */
  #isHeard = false;
  /** Since when a token is asked for; null: it isn't. */
  #askedMs: number | null = null;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #timers: ReturnType<typeof setInterval>[] = [];

  constructor(post: Post) {
    this.#post = post;
  }

  take(message: ToSocketWorker): void {
    if (message.op === 'open') this.#start(message.url);
    else if (message.op === 'token') this.#onToken(message.token);
    else if (message.op === 'decoder') this.#addDecoder(message.decoder, message.port);
    else if (message.op === 'tiles') this.#want(message.tiles);
    else if (message.op === 'wake') this.#wake(message.isNew);
    else this.#stop();
  }

  #start(url: string): void {
    this.#stop();
    this.#url = url;
    this.#lastLookMs = Date.now();
    this.#timers = [
      setInterval(() => this.#acknowledge(), ACKNOWLEDGE_EVERY_MS),
      setInterval(() => this.#look(), LOOK_EVERY_MS),
    ];
    this.#connect();
  }

  #stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    this.#url = '';
    this.#askedMs = null;
    this.#drop();
    this.#tell({ state: 'closed' });
  }

  #tell(state: SocketState): void {
    this.#post({ op: 'state', state });
  }

  /** Lets go of the socket without waiting for its end. */
  #drop(): void {
    clearTimeout(this.#retry);
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null) letGo(socket);
  }

  #connect(): void {
    this.#drop();
    if (this.#url === '' || this.#askedMs !== null) return;
    this.#askedMs = monotonicMs();
    // Where it is forbidden each try is no news: tiles would leave the ways that they took instead.
    if (!this.#isBlocked) this.#tell({ state: 'connecting' });
    this.#post({ op: 'wants-token' });
  }

  #onToken(token: string | null): void {
    // One that comes after it was given up is one too many.
    if (this.#askedMs === null) return;
    this.#askedMs = null;
    if (token === null) this.#waitThenConnect();
    else this.#openWith(token);
  }

  #openWith(token: string): void {
    const socket = new WebSocket(`${this.#url}?token=${encodeURIComponent(token)}`);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    this.#lastHeardMs = monotonicMs();
    this.#isHeard = false;
    let hasOpened = false;
    socket.onopen = () => {
      hasOpened = true;
      if (this.#socket === socket) this.#onOpen();
    };
    socket.onmessage = ({ data }) => {
      if (this.#socket === socket) this.#onMessage(data as string | ArrayBuffer);
    };
    socket.onclose = ({ code }) => {
      // One that was given up says nothing of the network.
      if (this.#socket !== socket) return;
      if (!hasOpened) this.#inVain += 1;
      this.#socket = null;
      if (code === REFUSED) this.#tell({ state: 'refused' });
      this.#waitThenConnect();
    };
  }

  get #isBlocked(): boolean {
    return this.#inVain >= BLOCKED_AFTER;
  }

  #waitThenConnect(): void {
    const waitMs = this.#backoff.next();
    if (this.#isBlocked) this.#tell({ state: 'blocked' });
    else this.#tell({ state: 'waiting', untilMs: monotonicMs() + waitMs });
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#connect(), waitMs);
  }

  #onOpen(): void {
    this.#connection += 1;
    this.#own = { messages: 0, bytes: 0 };
    this.#taken.begin(this.#connection);
    this.#routes.begin(this.#connection);
    this.#sendTiles();
    // Where it was forbidden tiles stay with the ways that they took until it brings something.
    if (!this.#isBlocked) this.#tell({ state: 'open' });
  }

  #want(tiles: readonly WantedTile[]): void {
    this.#wanted = tiles;
    this.#routes.want(tiles);
    this.#sendTiles();
  }

  #sendTiles(): void {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    this.#rev += 1;
    const tiles = this.#wanted.map(({ decoder, ...tile }) => tile);
    this.#socket.send(JSON.stringify({ op: 'tiles', rev: this.#rev, tiles }));
  }

  #onMessage(data: string | ArrayBuffer): void {
    this.#lastHeardMs = monotonicMs();
    if (!this.#isHeard) this.#onFirst();
    if (typeof data === 'string') {
      this.#onText(JSON.parse(data) as ServiceText);
      return;
    }
    const bytes = data.byteLength;
    const to = this.#routes.forward(data, (sound) => this.#post({ op: 'sound', data: sound }, [sound]));
    if (to === 'decoder') return;
    this.#own = { messages: this.#own.messages + 1, bytes: this.#own.bytes + bytes };
    this.#taken.note(OWN_PART, this.#connection, this.#own);
  }

  #onFirst(): void {
    const wasBlocked = this.#isBlocked;
    this.#isHeard = true;
    this.#inVain = 0;
    if (wasBlocked) this.#tell({ state: 'open' });
  }

  #onText(text: ServiceText): void {
    if (text.op === 'tile' && text.tile !== undefined) {
      const { tile, stream = null, sound = null, mode = 'off', problem = null } = text;
      const known = this.#routes.show(tile, stream, sound, mode === 'key');
      if (known !== null) this.#post({ op: 'sound', data: known }, [known]);
      this.#post({ op: 'tile', answer: { tile, stream, sound, mode, problem } });
    } else if (text.op === 'tick') {
      // Only one that is heard for a while is worth no more waiting.
      this.#backoff.reset();
      this.#post({ op: 'tick', serverMs: text.server_ms ?? 0, atMs: monotonicMs() });
    } else if (text.op === 'event') {
      const { topic, id, set } = text;
      this.#post({ op: 'happening', happening: { topic, id, set } as Happening });
    } else if (text.op === 'reset') this.#post({ op: 'happening', happening: { topic: 'reset' } });
    else if (text.op === 'detections' && text.camera !== undefined) {
      const seen = { atMs: text.at_ms ?? 0, objects: text.objects ?? [] };
      this.#post({ op: 'seen', camera: text.camera, seen });
    } else if (text.op === 'lost')
      this.#post({
        op: 'lost',
        stream: text.stream ?? 0,
        frames: text.frames ?? 0,
        reason: text.reason ?? '',
      });
  }

  #addDecoder(decoder: number, port: MessagePort): void {
    port.onmessage = ({ data }: MessageEvent<FromDecoder>) =>
      this.#taken.note(decoder, data.connection, data);
    this.#routes.addDecoder(decoder, {
      post: (message, transfer = []) => port.postMessage(message, [...transfer]),
    });
  }

  /** Browsers answer pings though a page hangs: what counts is what decoders took. */
  #acknowledge(): void {
    const socket = this.#socket;
    const taken = this.#taken.total;
    // Nothing was sent to a page that wants no pictures.
    if (taken.messages > 0 && socket?.readyState === WebSocket.OPEN) socket.send(takenMessage(taken));
  }

  /** Sees that the machine slept, and that nothing is heard any more. */
  #look(): void {
    // The clock that nobody sets may stand still meanwhile.
    const wallMs = Date.now();
    const wasAsleep = wallMs - this.#lastLookMs > LOOK_EVERY_MS + ASLEEP_MS;
    this.#lastLookMs = wallMs;
    if (wasAsleep) {
      this.#wake(true);
      return;
    }
    const nowMs = monotonicMs();
    if (this.#askedMs !== null && nowMs - this.#askedMs > TOKEN_WITHIN_MS) this.#onToken(null);
    if (this.#socket === null) return;
    const withinMs = this.#socket.readyState === WebSocket.OPEN ? TICK_WITHIN_MS : OPEN_WITHIN_MS;
    if (nowMs - this.#lastHeardMs > withinMs) this.#giveUp();
  }

  #giveUp(): void {
    if (!this.#isHeard) this.#inVain += SWALLOWED;
    this.#drop();
    this.#waitThenConnect();
  }

  #wake(isNew: boolean): void {
    if (this.#url === '') return;
    if (isNew || this.#socket === null) {
      this.#backoff.reset();
      // What was asked for before may never be answered.
      if (isNew) this.#askedMs = null;
      this.#connect();
    }
  }
}
