import { isConfig, streamOf } from '../player/messages.js';
import type { ToDecoder, WantedTile } from './decoder-messages.js';

/** Descriptions that are kept for a decoder that begins with a stream later. */
const MAX_CONFIGS = 256;

type Port = { post(message: ToDecoder, transfer?: readonly ArrayBuffer[]): void };

/** Which decoder shows which stream: each message goes there, without being copied. */
export class Routes {
  readonly #decoders = new Map<number, Port>();
  /** The decoder of each tile, as the page wants it. */
  readonly #decoderOfTile = new Map<number, number>();
  readonly #streamOfTile = new Map<number, number>();
  readonly #soundOfTile = new Map<number, number>();
  readonly #configs = new Map<number, ArrayBuffer>();
  #connection = 0;

  addDecoder(decoder: number, port: Port): void {
    this.#decoders.set(decoder, port);
    port.post({ op: 'connection', connection: this.#connection });
  }

  /** Another socket: streams of the last one mean nothing on it. */
  begin(connection: number): void {
    this.#connection = connection;
    this.#streamOfTile.clear();
    this.#soundOfTile.clear();
    this.#configs.clear();
    for (const port of this.#decoders.values()) port.post({ op: 'connection', connection });
  }

  want(tiles: readonly WantedTile[]): void {
    this.#decoderOfTile.clear();
    for (const { tile, decoder } of tiles) this.#decoderOfTile.set(tile, decoder);
    for (const streams of [this.#streamOfTile, this.#soundOfTile])
      for (const tile of streams.keys()) if (!this.#decoderOfTile.has(tile)) streams.delete(tile);
  }

  /**
   * The service says what it sends for a tile from now on. What comes back is the description of its sound, where that
   * begins and was described before: it is not described again.
   */
  show(tile: number, stream: number | null, sound: number | null, isKeysOnly: boolean): ArrayBuffer | null {
    const decoder = this.#decoders.get(this.#decoderOfTile.get(tile) ?? -1);
    if (decoder === undefined) return null;
    const known = this.#soundOfTile.get(tile) === sound ? undefined : this.#configs.get(sound ?? -1);
    if (sound === null) this.#soundOfTile.delete(tile);
    else this.#soundOfTile.set(tile, sound);
    const config = stream === null ? undefined : this.#configs.get(stream);
    const isNew = stream !== null && this.#streamOfTile.get(tile) !== stream;
    if (stream === null) this.#streamOfTile.delete(tile);
    else this.#streamOfTile.set(tile, stream);
    decoder.post({ op: 'route', tile, stream, isKeysOnly });
    // It may be described to another decoder already, and is not described again.
    if (isNew && config !== undefined) decoder.post({ op: 'known', data: config.slice(0) });
    return known?.slice(0) ?? null;
  }

  /** The newest stay, and those of what is shown. */
  #keep(stream: number, config: ArrayBuffer): void {
    this.#configs.delete(stream);
    this.#configs.set(stream, config);
    if (this.#configs.size <= MAX_CONFIGS) return;
    const shown = new Set([...this.#streamOfTile.values(), ...this.#soundOfTile.values()]);
    for (const known of this.#configs.keys()) {
      if (shown.has(known) || known === stream) continue;
      this.#configs.delete(known);
      return;
    }
  }

  /** Hands a message on. False: nobody shows that, and it is taken by being left. */
  forward(data: ArrayBuffer, onSound: (data: ArrayBuffer) => void): 'decoder' | 'sound' | 'nobody' {
    const bytes = new Uint8Array(data);
    const stream = streamOf(bytes);
    if (stream === null) return 'nobody';
    if (isConfig(bytes)) this.#keep(stream, data.slice(0));
    if ([...this.#soundOfTile.values()].includes(stream)) {
      onSound(data);
      return 'sound';
    }
    for (const [tile, shown] of this.#streamOfTile) {
      const port = shown === stream ? this.#decoders.get(this.#decoderOfTile.get(tile) ?? -1) : undefined;
      if (port === undefined) continue;
      port.post({ op: 'message', data }, [data]);
      return 'decoder';
    }
    return 'nobody';
  }
}
