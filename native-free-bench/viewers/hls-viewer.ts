import { systemClock } from '../../src/base/clock.js';
import { messageOf } from '../../src/base/errors.js';
import { sendTimeMs } from '../../test/support/frame-generator.js';
import { FrameWatch, type Seen } from './frame-watch.js';
import { HttpGet } from './http-get.js';
import { PartFrames } from './part-frames.js';
import { type PartsPlaylist, readPartsPlaylist } from './parts-playlist.js';
import type { OpenViewer } from './viewer.js';

/** Plays low-latency HLS: asks for the playlist that has the next part, and loads each part once. */
class HlsViewer {
  readonly #http = new HttpGet();
  readonly #seen: Seen;
  readonly #watch: FrameWatch;
  #url: string;
  #map: string | null = null;
  #frames: PartFrames | null = null;

  constructor(url: string, seen: Seen, onFirst: () => void) {
    this.#url = url;
    this.#seen = seen;
    this.#watch = new FrameWatch(seen, onFirst);
  }

  async play(): Promise<void> {
    let { next } = await this.#load('');
    while (!this.#http.isClosed) {
      const wanted = next;
      const playlist = await this.#load(`_HLS_msn=${next.segment}&_HLS_part=${next.part}`);
      const answeredMs = systemClock.monotonicMs();
      for (const { uri, segment, part } of playlist.parts) {
        if (segment < wanted.segment || (segment === wanted.segment && part < wanted.part)) continue;
        await this.#take(uri, answeredMs);
      }
      next = playlist.next;
    }
  }

  close(): void {
    this.#http.close();
  }

  /** The playlist, and what its parts begin with, where that is new. */
  async #load(query: string): Promise<PartsPlaylist> {
    const asked = new URL(this.#url);
    asked.search += `${asked.search === '' || query === '' ? '' : '&'}${query}`;
    const { bytes, url } = await this.#http.get(asked.href);
    const playlist = readPartsPlaylist(bytes.toString());
    if (playlist.variant !== null) {
      this.#url = new URL(playlist.variant, url).href;
      return this.#load('');
    }
    if (query === '') this.#url = url;
    if (playlist.map !== null && playlist.map !== this.#map) {
      this.#map = playlist.map;
      this.#frames = new PartFrames((await this.#http.get(new URL(playlist.map, url).href)).bytes);
    }
    return playlist;
  }

  async #take(uri: string, answeredMs: number): Promise<void> {
    const { bytes } = await this.#http.get(new URL(uri, this.#url).href);
    const ends = this.#frames?.endsIn(bytes) ?? [];
    const last = ends.pop();
    for (const end of ends) this.#watch.count(bytes, end);
    if (last === undefined) return;
    this.#watch.onFrame(bytes, last);
    this.#seen.bytes += bytes.length;
    if (this.#seen.isMeasuring) this.#seen.reloads.add(answeredMs - sendTimeMs(bytes, last));
  }
}

export const openHlsViewer: OpenViewer = ({ url }, seen, onFirst) => {
  let isClosed = false;
  const player = new HlsViewer(url, seen, onFirst);
  player.play().catch((fault: unknown) => {
    if (!isClosed) seen.faults.push(`${new URL(url).pathname}: ${messageOf(fault)}`);
    onFirst();
  });
  return {
    pictures: 1,
    close: () => {
      isClosed = true;
      player.close();
    },
  };
};
