import type { Faults } from './faults.js';
import type { Feed } from './feed.js';
import { StreamFeed } from './stream-feed.js';

/** One camera of a server: what it plays, and what is wrong with it. */
export class Mount {
  readonly path: string;
  /** Without credentials. */
  readonly url: string;
  readonly feed: Feed;
  readonly faults: Faults;

  constructor(path: string, url: string, feed: Feed, faults: Faults) {
    this.path = path;
    this.url = url;
    this.feed = feed;
    this.faults = faults;
  }

  /** The feed of elementary streams that a test steers. */
  get stream(): StreamFeed {
    if (!(this.feed instanceof StreamFeed)) throw new Error(`${this.path} plays generated frames`);
    return this.feed;
  }

  sendFrames(count: number): void {
    if (count > 0) this.stream.sendFrames(count);
  }
}
