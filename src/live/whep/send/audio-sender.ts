import type { AudioCodec } from '../../../codec/track.js';
import type { MediaSocket } from '../path/media-socket.js';
import type { SrtpBatch, SrtpStream } from '../secure/srtp-batch.js';

/** Sends one viewer the camera's audio: each packet at once, and none twice. */
export class AudioSender {
  packets = 0;
  octets = 0;
  readonly codec: AudioCodec;
  readonly clockRateHz: number;
  readonly #batch: SrtpBatch;
  readonly #socket: MediaSocket;
  readonly #stream: SrtpStream;
  readonly #timestampOffset: number;
  #nextIndex: number;

  constructor(
    deps: { readonly batch: SrtpBatch; readonly socket: MediaSocket; readonly stream: SrtpStream },
    track: { readonly codec: AudioCodec; readonly clockRateHz: number },
    start: { readonly index: number; readonly timestamp: number },
  ) {
    this.#batch = deps.batch;
    this.#socket = deps.socket;
    this.#stream = deps.stream;
    this.#nextIndex = start.index;
    this.#timestampOffset = start.timestamp;
    this.codec = track.codec;
    this.clockRateHz = track.clockRateHz;
  }

  get ssrc(): number {
    return this.#stream.ssrc;
  }

  /** The RTP time of a time of the camera. */
  timestampAt(ticks: number): number {
    return ((Math.floor(ticks) + this.#timestampOffset) % 0x100000000) | 0;
  }

  /** Sends the plain packet at the beginning of `source`. Audio that can't go now is of no use later. */
  send(source: Int32Array, lengthBytes: number, ticks: number): void {
    if (this.#socket.isBlocked) return;
    const batch = this.#batch;
    batch.begin();
    batch.add(this.#stream, source, 0, lengthBytes, false, this.#nextIndex, this.timestampAt(ticks));
    batch.seal(this.#stream.keys);
    this.#socket.send(batch.packet(0));
    if (this.#socket.isBlocked) batch.abandon();
    this.#nextIndex += 1;
    this.packets += 1;
    this.octets += lengthBytes;
  }
}
