import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import { Signal } from '../base/signal.js';
import type { SharedEffects, SharedRecord, SharedRecords } from '../store/shared/shared-records.js';
import type { ClusterMark } from './cluster-mark.js';
import type { CopyMemory } from './copy-memory.js';
import { ForeignKeys } from './foreign-keys.js';
import type { LogPosition } from './sift.js';

export type SettingsCopyDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly records: SharedRecords;
  readonly memory: CopyMemory;
};

const MAX_NAMED = 10;

const nothing: SharedEffects = {
  ...{ kinds: new Set(), cameraIds: [], removedCameraIds: [], lockedCameraIds: [] },
  ...{ revokedUsernames: [], refused: [] },
};

const both = <T>(one: Iterable<T>, other: Iterable<T>): T[] => [...new Set([...one, ...other])];

const together = (one: SharedEffects, other: SharedEffects): SharedEffects => ({
  kinds: new Set(both(one.kinds, other.kinds)),
  cameraIds: both(one.cameraIds, other.cameraIds),
  removedCameraIds: both(one.removedCameraIds, other.removedCameraIds),
  lockedCameraIds: both(one.lockedCameraIds, other.lockedCameraIds),
  revokedUsernames: both(one.revokedUsernames, other.revokedUsernames),
  refused: other.refused,
});

/** What this box has of the log: its records, and up to where that is. */
export class SettingsCopy {
  /** Other boxes changed something. */
  readonly changed = new Signal<[effects: SharedEffects]>();
  readonly foreign = new ForeignKeys();
  readonly #deps: SettingsCopyDeps;
  #position: LogPosition = { sequence: 0, mark: null };
  /** What somebody who listens couldn't take to heart yet. */
  #untold = nothing;

  constructor(deps: SettingsCopyDeps) {
    this.#deps = deps;
  }

  get position(): LogPosition {
    return this.#position;
  }

  get sequence(): number {
    return this.#position.sequence;
  }

  get mark(): ClusterMark | null {
    return this.#position.mark;
  }

  /** Writes what the log has up to there. Where the disk doesn't take it nothing counts as read. */
  apply(
    records: readonly SharedRecord[],
    position: LogPosition,
    keptSessionIds: readonly string[] = [],
  ): SharedEffects {
    const alongside = (): void => this.#remember(position);
    const effects = this.#deps.records.apply(records, { keptSessionIds, alongside });
    this.#position = position;
    this.#tell(effects);
    return effects;
  }

  /** The same of all that the log has. */
  replaceBy(wanted: ReadonlyMap<string, string>, position: LogPosition): void {
    const effects = this.#deps.records.replaceBy(wanted, () => this.#remember(position));
    this.#position = position;
    this.#tell(effects);
    this.announce(effects);
  }

  /** What was read up to there is nobody's. */
  passOver(sequence: number): void {
    this.#position = { sequence, mark: this.mark };
  }

  /** With what wasn't heard before; throws what they throw who listen, and tells them again the next time. */
  announce(effects: SharedEffects = nothing): void {
    this.#untold = together(this.#untold, effects);
    if (this.#untold.kinds.size === 0) return;
    this.changed.emit(this.#untold);
    this.#untold = nothing;
  }

  /** `isSure`: this box has what stood there before. */
  seeForeign(keys: readonly string[], isSure: (key: string) => boolean): void {
    const { clock, log } = this.#deps;
    const news = this.foreign.see(keys, isSure, clock.monotonicMs());
    if (news.length > 0)
      log.warn("somebody without CLUSTER_KEY has written over what the cluster keeps: it isn't taken over", {
        keys: news.slice(0, MAX_NAMED),
        count: news.length,
      });
  }

  #remember({ sequence, mark }: LogPosition): void {
    if (mark !== null) this.#deps.memory.write({ sequence, mark, unsure: this.foreign.unsure });
  }

  #tell({ refused }: SharedEffects): void {
    for (const { key, reason } of refused)
      this.#deps.log.error("a setting of the cluster can't be kept here: is a box of another version?", {
        key,
        reason,
      });
  }
}
