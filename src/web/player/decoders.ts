import type { FromDecodeWorker, ToDecodeWorker } from './decode-messages.js';

const TILES_A_WORKER = 9;
const MAX_WORKERS = 4;
/** Chips have few decoders; more fail without a word. */
const HARDWARE_DECODERS = 8;
const HARDWARE_DECODERS_OF_PHONES = 4;

type Known = { readonly worker: Worker; readonly tiles: Map<number, string> };

export type DecodersEvents = {
  onMessage(message: FromDecodeWorker): void;
  /** A worker's code did not come. */
  onNotLoaded(decoder: number): void;
  /** A worker is there; the port leads to it, and belongs to the socket's worker. */
  onWorker(decoder: number, port: MessagePort): void;
};

/** Its code did not come; what its code throws is an `ErrorEvent`. */
export const whenNotLoaded = (worker: Worker, listener: () => void): void =>
  worker.addEventListener('error', (event) => {
    if (!(event instanceof ErrorEvent) || event.message === '') listener();
  });

/** The workers that decode: one for nine tiles, all tiles of a camera in the same one. */
export class Decoders {
  readonly #events: DecodersEvents;
  readonly #workers: Known[] = [];

  constructor(events: DecodersEvents) {
    this.#events = events;
  }

  /** The number of the worker that shows this tile. */
  place(tile: number, cameraId: string): number {
    const known = this.#workers.findIndex(({ tiles }) => [...tiles.values()].includes(cameraId));
    const free = known >= 0 ? known : this.#workers.findIndex(({ tiles }) => tiles.size < TILES_A_WORKER);
    const decoder = free >= 0 ? free : this.#workers.length < MAX_WORKERS ? this.#start() : this.#least();
    this.#workers[decoder]?.tiles.set(tile, cameraId);
    return decoder;
  }

  leave(tile: number): void {
    for (const { worker, tiles } of this.#workers) {
      if (!tiles.delete(tile)) continue;
      const message: ToDecodeWorker = { op: 'gone', tile };
      worker.postMessage(message);
    }
  }

  post(decoder: number, message: ToDecodeWorker, transfer: Transferable[] = []): void {
    this.#workers[decoder]?.worker.postMessage(message, transfer);
  }

  #start(): number {
    const worker = new Worker(new URL('./decode-worker.ts', import.meta.url), { type: 'module' });
    const decoder = this.#workers.push({ worker, tiles: new Map() }) - 1;
    worker.onmessage = ({ data }: MessageEvent<FromDecodeWorker>) => this.#events.onMessage(data);
    whenNotLoaded(worker, () => this.#events.onNotLoaded(decoder));
    const { port1, port2 } = new MessageChannel();
    this.post(decoder, { op: 'socket', port: port1 }, [port1]);
    this.#events.onWorker(decoder, port2);
    const isPhone = matchMedia('(pointer: coarse)').matches;
    const hardware = Math.floor((isPhone ? HARDWARE_DECODERS_OF_PHONES : HARDWARE_DECODERS) / (decoder + 1));
    for (const at of this.#workers.keys()) this.post(at, { op: 'limits', hardware });
    return decoder;
  }

  #least(): number {
    const sizes = this.#workers.map(({ tiles }) => tiles.size);
    return sizes.indexOf(Math.min(...sizes));
  }
}
