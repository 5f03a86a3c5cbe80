import { type ClientOptions, WebSocket } from 'ws';
import { until } from './until.js';

/** What a message of video says, and when it came. */
export type ReceivedFrame = {
  readonly timestampUs: number;
  /** Annex B. */
  readonly bytes: Buffer;
  readonly receivedMs: number;
};

/** A player: keeps what it gets, and complains of what the interface doesn't allow. */
export class WebSocketViewer {
  readonly webSocket: WebSocket;
  readonly frames: ReceivedFrame[] = [];
  /** The configurations, with the number of frames that came before each. */
  readonly configs: { readonly bytes: Buffer; readonly atFrame: number }[] = [];
  readonly faults: string[] = [];
  closedWith: number | null = null;

  constructor(url: string, options: ClientOptions = {}) {
    this.webSocket = new WebSocket(url, { rejectUnauthorized: false, ...options });
    this.webSocket.on('message', (data: Buffer, isBinary) => {
      if (isBinary) this.#onMessage(data);
      else this.faults.push('a text message');
    });
    this.webSocket.on('close', (code) => {
      this.closedWith = code;
    });
    this.webSocket.on('error', (fault) => this.faults.push(fault.message));
  }

  /** All that came, as a decoder wants it. */
  get dump(): Buffer {
    const pieces: Buffer[] = [];
    let configs = 0;
    for (const [index, { bytes }] of this.frames.entries()) {
      while ((this.configs[configs]?.atFrame ?? Number.POSITIVE_INFINITY) <= index) {
        pieces.push(this.configs[configs++]!.bytes);
      }
      pieces.push(bytes);
    }
    return Buffer.concat(pieces);
  }

  async untilClosed(): Promise<number> {
    await until('the connection closes', () => this.closedWith !== null, { deadlineMs: 60_000 });
    return this.closedWith ?? -1;
  }

  async untilFrames(count: number): Promise<void> {
    await until(`${count} frames arrive`, () => this.frames.length >= count, {
      deadlineMs: 60_000,
      describe: () => JSON.stringify({ frames: this.frames.length, faults: this.faults }),
    });
  }

  /** When this is over, the service has read all that was sent to it before. */
  async roundTrip(): Promise<void> {
    const answered = new Promise((resolve) => void this.webSocket.once('pong', resolve));
    this.webSocket.ping();
    await answered;
  }

  #onMessage(data: Buffer): void {
    const receivedMs = performance.now();
    if (data[0] === 1) {
      this.configs.push({ bytes: data.subarray(1), atFrame: this.frames.length });
    } else if (data[0] === 2) {
      if (this.configs.length === 0) this.faults.push('a frame before any configuration');
      const timestampUs = Number(data.readBigUInt64BE(1));
      const lastUs = this.frames.at(-1)?.timestampUs ?? -1;
      if (timestampUs <= lastUs) this.faults.push(`timestamp ${timestampUs} after ${lastUs}`);
      if (data.readUInt32BE(9) !== 1) this.faults.push('a frame without a start code');
      this.frames.push({ timestampUs, bytes: data.subarray(9), receivedMs });
    } else {
      this.faults.push(`a message of type ${data[0]}`);
    }
  }
}
