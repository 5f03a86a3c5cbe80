import { once } from 'node:events';
import { type ClientOptions, WebSocket } from 'ws';
import { until } from './until.js';

export type WallFrame = {
  readonly stream: number;
  readonly index: number;
  readonly isKey: boolean;
  readonly brokeOff: boolean;
  readonly compositionUs: number;
  readonly timestampUs: number;
  readonly wallUs: number;
  readonly bytes: Buffer;
  readonly receivedMs: number;
};

export type WallConfig = {
  readonly stream: number;
  readonly reorderDepth: number;
  readonly width: number;
  readonly height: number;
  readonly rate: number;
  readonly codec: string;
  readonly bytes: Buffer;
};

/** Text that the service sent. */
export type WallText = Readonly<Record<string, unknown>> & { readonly op: string };

/** What came, in order: a frame's place among the texts shows what the page knew by then. */
export type WallNews =
  | { readonly kind: 'frame'; readonly frame: WallFrame }
  | { readonly kind: 'config'; readonly config: WallConfig }
  | { readonly kind: 'text'; readonly text: WallText };

export type WantedTile = {
  tile: number;
  camera: string;
  stream?: 'sub' | 'main';
  mode?: 'all' | 'key' | 'off';
  priority?: number;
  sound?: boolean;
  detections?: boolean;
};

/** How often it says how much it took; null: when the test says so. */
export type WallPageOptions = ClientOptions & { readonly acknowledgeEveryMs?: number | null };

const readFrame = (data: Buffer, receivedMs: number): WallFrame => ({
  stream: data.readUInt32BE(4),
  index: data.readUInt32BE(8),
  isKey: (data[1]! & 1) !== 0,
  brokeOff: (data[1]! & 2) !== 0,
  compositionUs: data.readInt32BE(12),
  timestampUs: Number(data.readBigUInt64BE(16)),
  wallUs: Number(data.readBigUInt64BE(24)),
  bytes: data.subarray(32),
  receivedMs,
});

const readConfig = (data: Buffer): WallConfig => {
  const codecBytes = data.readUInt16BE(2);
  return {
    stream: data.readUInt32BE(4),
    reorderDepth: data[1]!,
    width: data.readUInt16BE(8),
    height: data.readUInt16BE(10),
    rate: data.readUInt32BE(12),
    codec: data.toString('latin1', 16, 16 + codecBytes),
    bytes: data.subarray(16 + codecBytes),
  };
};

/** A page that shows a wall: keeps what it gets, and complains of what the interface doesn't allow. */
export class WallPage {
  readonly webSocket: WebSocket;
  readonly news: WallNews[] = [];
  readonly faults: string[] = [];
  closedWith: number | null = null;
  takenMessages = 0;
  takenBytes = 0;
  readonly #described = new Set<number>();
  readonly #lastUs = new Map<number, number>();
  #rev = 0;

  constructor(url: string, { acknowledgeEveryMs = 250, ...options }: WallPageOptions = {}) {
    this.webSocket = new WebSocket(url, { rejectUnauthorized: false, ...options });
    this.webSocket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#onMessage(data);
      else this.#onText(JSON.parse(data.toString()) as WallText);
    });
    const acknowledging =
      acknowledgeEveryMs === null ? undefined : setInterval(() => this.acknowledge(), acknowledgeEveryMs);
    this.webSocket.on('close', (code) => {
      clearInterval(acknowledging);
      this.closedWith = code;
    });
    this.webSocket.on('error', (fault) => this.faults.push(fault.message));
  }

  get frames(): WallFrame[] {
    return this.news.flatMap((news) => (news.kind === 'frame' ? [news.frame] : []));
  }

  get configs(): WallConfig[] {
    return this.news.flatMap((news) => (news.kind === 'config' ? [news.config] : []));
  }

  textsOf(op: string): WallText[] {
    return this.news.flatMap((news) => (news.kind === 'text' && news.text.op === op ? [news.text] : []));
  }

  /** How a tile stands, as the service said last. */
  tile(tile: number): WallText | undefined {
    return this.textsOf('tile').findLast((text) => text['tile'] === tile);
  }

  framesOf(stream: unknown): WallFrame[] {
    return this.frames.filter((frame) => frame.stream === stream);
  }

  /** Says what it wants; returns the number of that state. */
  show(tiles: readonly WantedTile[]): number {
    this.#rev += 1;
    const whole = tiles.map((tile) => ({ stream: 'main', mode: 'all', priority: 0, sound: false, ...tile }));
    this.webSocket.send(JSON.stringify({ op: 'tiles', rev: this.#rev, tiles: whole }));
    return this.#rev;
  }

  /** Says how much it took: the truth, unless the test says otherwise. */
  acknowledge(messages = this.takenMessages, bytes = this.takenBytes): void {
    if (this.webSocket.readyState !== WebSocket.OPEN) return;
    const message = Buffer.alloc(12);
    message[0] = 0x21;
    message.writeUInt32BE(messages >>> 0, 4);
    message.writeUInt32BE(bytes >>> 0, 8);
    this.webSocket.send(message);
  }

  async opened(): Promise<this> {
    if (this.webSocket.readyState === WebSocket.CONNECTING) await once(this.webSocket, 'open');
    return this;
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    await until(what, condition, {
      describe: () =>
        JSON.stringify({ closedWith: this.closedWith, faults: this.faults, news: this.#tail() }),
    });
  }

  async untilClosed(): Promise<number> {
    await until('the connection closes', () => this.closedWith !== null, { deadlineMs: 60_000 });
    return this.closedWith ?? -1;
  }

  /** When this is over, the service has read all that was sent to it before, or the connection is closed. */
  async roundTrip(): Promise<void> {
    const { webSocket } = this;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        webSocket.off('pong', done).off('close', done);
        resolve();
      };
      webSocket.on('pong', done).on('close', done);
      webSocket.ping();
    });
  }

  #onText(text: WallText): void {
    this.news.push({ kind: 'text', text });
    // A stream may begin anew, with a keyframe that the page has seen.
    if (text.op === 'tile') this.#lastUs.delete(Number(text['stream']));
  }

  #tail(): unknown[] {
    return this.news.slice(-5).map((news) => (news.kind === 'frame' ? { ...news.frame, bytes: null } : news));
  }

  #onMessage(data: Buffer): void {
    const receivedMs = performance.now();
    this.takenMessages += 1;
    this.takenBytes += data.length;
    if (data[0] === 0x11) {
      const config = readConfig(data);
      this.#described.add(config.stream);
      this.news.push({ kind: 'config', config });
    } else if (data[0] === 0x12) {
      const frame = readFrame(data, receivedMs);
      if (!this.#described.has(frame.stream)) this.faults.push(`stream ${frame.stream} isn't described`);
      const lastUs = this.#lastUs.get(frame.stream) ?? -1;
      if (frame.timestampUs <= lastUs) this.faults.push(`time ${frame.timestampUs} after ${lastUs}`);
      this.#lastUs.set(frame.stream, frame.timestampUs);
      this.news.push({ kind: 'frame', frame });
    } else {
      this.faults.push(`a message of type ${data[0]}`);
    }
  }
}
