import type { Feed, Player } from '../../test/support/fake-camera/feed.js';
import type { Pump, PumpFeed } from '../../test/support/fake-camera/pump.js';
import type { MountTracks } from '../../test/support/fake-camera/sdp-writer.js';

export const failures = ['disconnect', 'silence', 'other-sets'] as const;
/** disconnect: all connections end. silence: they stay, and nothing comes. other-sets: it comes back as another camera. */
export type Failure = (typeof failures)[number];

/** A camera that fails when it is told to. */
export class FailingCamera implements Feed {
  readonly #feeds: readonly PumpFeed[];
  #turn = 0;

  /** `pumps`: streams with different parameter sets. */
  constructor(pumps: readonly Pump[]) {
    this.#feeds = pumps.map((pump) => pump.feed());
  }

  get tracks(): MountTracks {
    return this.#feed.tracks;
  }

  nextTicks(): number {
    return this.#feed.nextTicks();
  }

  join(player: Player): void {
    this.#feed.join(player);
  }

  /** It plays one of them. */
  leave(player: Player): void {
    for (const feed of this.#feeds) feed.leave(player);
  }

  close(): void {
    for (const feed of this.#feeds) feed.close();
  }

  fail(failure: Failure, seconds: number): void {
    const feed = this.#feed;
    if (failure === 'silence') {
      feed.silence(true);
      setTimeout(() => feed.silence(false), seconds * 1_000);
      return;
    }
    // Before the connections end: who comes back at once must get the other one.
    if (failure === 'other-sets') this.#turn += 1;
    feed.disconnect();
  }

  get #feed(): PumpFeed {
    return this.#feeds[this.#turn % this.#feeds.length]!;
  }
}
