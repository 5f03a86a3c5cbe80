import type { ViewerPlace } from '../viewer-place.js';
import type { WantedTile } from './page-messages.js';
import type { WallStream } from './wall-stream.js';

/** One tile of a page: what it shows, and what it is to show as soon as there is a keyframe. */
export class Tile {
  wanted: WantedTile;
  /** What the page is sent for it. */
  shown: WallStream | null = null;
  /** Another stream that takes its place with its first keyframe. */
  next: WallStream | null = null;
  /** Why it shows nothing; it is tried again when the page says anew what it wants. */
  problem: object | null = null;
  #place: ViewerPlace | null = null;
  #told = '';

  constructor(wanted: WantedTile) {
    this.wanted = wanted;
  }

  get hasPlace(): boolean {
    return this.#place !== null;
  }

  hold(place: ViewerPlace): void {
    this.#place = place;
  }

  uses(stream: WallStream): boolean {
    return this.shown === stream || this.next === stream;
  }

  /** It shows this stream: at once where there is nothing to lose, else from its first keyframe on. */
  show(stream: WallStream): void {
    const isAtOnce = this.shown === null || !this.shown.hasSent || stream.hasSent;
    if (isAtOnce || this.shown === stream) this.shown = stream;
    this.next = this.shown === stream ? null : stream;
  }

  showNothing(): void {
    this.shown = null;
    this.next = null;
  }

  /** It shows the other stream now, if it waited for this one. */
  switchTo(stream: WallStream): void {
    if (this.next !== stream) return;
    this.shown = stream;
    this.next = null;
  }

  /** It shows nothing any more, for this reason if any. */
  release(problem: object | null): void {
    this.#place?.release();
    this.#place = null;
    this.showNothing();
    this.problem = problem;
  }

  /** The message that says how it stands, or null: the page has been told just that. `dark`: there is no picture yet. */
  news(rev: number, dark: () => object): string | null {
    const text = JSON.stringify({ op: 'tile', rev, tile: this.wanted.tile, ...this.#standing(dark) });
    if (text === this.#told) return null;
    this.#told = text;
    return text;
  }

  #standing(dark: () => object): object {
    const { shown } = this;
    if (this.problem !== null) return { problem: this.problem };
    if (shown === null) return { stream: null, sound: null, mode: 'off' };
    if (!shown.hasSent && !shown.source.hasPicture) return { problem: dark() };
    const { picture, sound } = shown.source.numbers;
    const mode = shown.mode === 'all' ? this.wanted.mode : shown.mode;
    return { stream: picture, sound: this.wanted.sound ? sound : null, mode };
  }
}
