import type { Permission } from '../auth/permissions.js';
import type { Clock, Timer } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { Differences } from './differences.js';
import type { EventFeed, EventHub, Topic } from './event-hub.js';

/** Things of one kind that are looked at for changes. */
export type Watched = {
  readonly topic: Topic;
  readonly needs: Permission;
  /** What an id begins with in events. */
  readonly prefix: string;
  /** Whether the things are cameras, named by their ids. */
  readonly areCameras: boolean;
  /** The fields that are told of; null: all. */
  readonly fields: readonly string[] | null;
  /** Another number whenever something may be another; null: that is cheap enough to be looked at. */
  readonly revision: (() => number) | null;
  readonly things: () => Iterable<readonly [id: string, thing: object]>;
};

type Look = { readonly watched: Watched; readonly differences: Differences; seen: number | null };

const LOOK_EVERY_MS = 250;

/**
 * Finds out what changed by looking, a few times a second and only while somebody reads: whoever changes something, in
 * whatever way, needs not know that it is told of.
 */
export class ChangeFeed implements EventFeed {
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #looks: readonly Look[];
  #ticker: Timer | null = null;
  #isFailing = false;

  constructor(
    all: readonly Watched[],
    { clock, log, hub }: { clock: Clock; log: Logger; hub: Pick<EventHub, 'publish'> },
  ) {
    this.#clock = clock;
    this.#log = log;
    this.#looks = all.map((watched) => {
      const { topic, needs, prefix, areCameras, fields } = watched;
      const tell = (id: string, set: Readonly<Record<string, unknown>>): void =>
        hub.publish({ topic, needs, id: `${prefix}${id}`, set, cameraId: areCameras ? id : null });
      return { watched, differences: new Differences(fields, { clock, tell }), seen: null };
    });
  }

  start(): void {
    for (const look of this.#looks) {
      look.seen = look.watched.revision?.() ?? null;
      look.differences.begin(look.watched.things());
    }
    this.#ticker = this.#clock.every(LOOK_EVERY_MS, () => this.#tick());
  }

  stop(): void {
    this.#ticker?.cancel();
    this.#ticker = null;
  }

  #tick(): void {
    try {
      this.#lookAll();
      this.#isFailing = false;
    } catch (fault) {
      // The database may be out of reach: it is said once, and looked at again.
      if (!this.#isFailing) this.#log.error('changes could not be told', { reason: messageOf(fault) });
      this.#isFailing = true;
    }
  }

  #lookAll(): void {
    for (const look of this.#looks) {
      const revision = look.watched.revision?.() ?? null;
      if (revision !== null && revision === look.seen) continue;
      const isAllTold = look.differences.look(look.watched.things());
      look.seen = isAllTold ? revision : null;
    }
  }
}
