import { join } from 'node:path';
import type { NatsConnection } from '@nats-io/transport-node';
import type { Clock, Timer } from '../base/clock.js';
import { AppError, messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { Signal } from '../base/signal.js';
import { type SharedEffects, SharedRecords } from '../store/shared/shared-records.js';
import type { Store } from '../store/store.js';
import type { StoreQueue } from './boxes/beat.js';
import type { BoxesView, KnownBox } from './boxes/box-table.js';
import { Boxes } from './boxes/boxes.js';
import { clusterError } from './cluster-error.js';
import { newId } from './cluster-mark.js';
import { CopyMemory } from './copy-memory.js';
import { NatsLink, type NatsLinkOptions } from './nats-link.js';
import { Claims } from './owners/claims.js';
import type { OwnedCameras } from './owners/owned-cameras.js';
import { Ownership } from './owners/ownership.js';
import { ReportWire } from './owners/wire.js';
import { Questions } from './questions.js';
import { derivedKey, SealedText } from './sealed-text.js';
import { SettingsLog } from './settings-log.js';
import { SharedSettings } from './shared-settings.js';

export type ClusterOptions = NatsLinkOptions & {
  readonly clusterName: string;
  /** What all boxes of the cluster have, and its servers don't. */
  readonly secret: string;
  readonly dataDir: string;
  readonly capacity: number;
  readonly boxAddress: string | null;
  readonly lostMs: number;
};

export type ClusterDeps = { readonly clock: Clock; readonly log: Logger; readonly store: Store };

/** What is known once the service is built. */
export type OwnStart = {
  readonly version: string;
  /** Where the main thread shows that it lives (base/thread-stats.ts). */
  readonly mainStats: SharedArrayBuffer;
  readonly cameras: OwnedCameras;
  /** Where this box is asked for live pictures; null: nowhere. */
  readonly relayPort: number | null;
  /** What waits to be copied; null: nothing ever does. */
  readonly store: () => StoreQueue | null;
};

/** Why the settings can't be that now. */
type Faults = { read: string | null; changed: string | null };

/** A message of news may be lost: so often it is looked without. */
const FOLLOW_EVERY_MS = 1_000;
/** Anybody who reaches the servers may say that there is news. */
const NEWS_EVERY_MS = 100;
/** So often it is asked whether a majority of the servers is there, and whether it is still the same log. */
const CHECK_EVERY_MS = 2_000;
const START_RETRY_MS = 100;
/** A box with a copy records what it has meanwhile; one without has nothing to do. */
const WAIT_WITH_COPY_MS = 3_000;
const WAIT_WITHOUT_MS = 30_000;
/** A camera takes a moment to connect, and to its next keyframe. */
const HAND_OVER_MS = 8_000;

const nobodyYet: BoxesView = {
  ...{ boxes: [], awaited: [] },
  ...{ hasMajority: false, isSettled: false, hasNamesake: false, isUnheard: false },
};

const KNOWN_FACT = 'cluster_boxes';

const knownBoxesIn = (text: string | null): KnownBox[] =>
  text === null ? [] : (JSON.parse(text) as KnownBox[]);

/** This box as one of a cluster. */
export class Cluster {
  /** Which cameras this box has. */
  readonly owners: Ownership;
  /** What boxes ask each other. */
  readonly questions: Questions;
  /** Somebody said, here or elsewhere, that a box is gone for good. */
  readonly forgotten = new Signal<[box: string]>();
  readonly #options: ClusterOptions;
  readonly #boot = newId();
  readonly #deps: ClusterDeps;
  readonly #link: NatsLink;
  readonly #changes: SettingsLog;
  readonly #settings: SharedSettings;
  readonly #memory: CopyMemory;
  readonly #listening = new WeakSet<NatsConnection>();
  #boxes: Boxes | null = null;
  #timer: Timer | null = null;
  #news: Timer | null = null;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #nextCheckMs = 0;
  #isLooking = false;
  #isWanted = false;
  readonly #faults: Faults = { read: null, changed: null };

  private constructor(options: ClusterOptions, deps: ClusterDeps) {
    const { clusterName, secret, dataDir } = options;
    const { clock, log, store } = deps;
    this.#options = options;
    this.#deps = deps;
    this.#link = new NatsLink(options, deps);
    const sealed = new SealedText(derivedKey(secret, clusterName, 'settings'));
    this.#changes = new SettingsLog(clusterName, { clock, link: this.#link, sealed });
    const keyCheck = derivedKey(secret, clusterName, 'key check').toString('base64url');
    this.#memory = new CopyMemory(store.facts, keyCheck);
    this.#settings = store.share(
      (db) =>
        new SharedSettings({
          ...{ clock, log, records: new SharedRecords(db), changes: this.#changes },
          memory: this.#memory,
          keepCopy: () => {
            const path = join(dataDir, `framering-before-cluster-${clock.wallMs()}.db`);
            store.copyTo(path);
            return path;
          },
        }),
    );
    this.owners = this.#buildOwners();
    this.questions = new Questions(
      clusterName,
      { box: options.boxName, boot: this.#boot },
      {
        ...{ clock, log, link: this.#link, boxes: () => this.boxes.boxes },
        sealed: new SealedText(derivedKey(secret, clusterName, 'questions')),
      },
    );
  }

  /**
   * Joins the cluster. A box that has settings starts by them where the cluster doesn't answer within seconds; one that has
   * none waits, and throws `cluster_unavailable` in the end. Throws `bad_config` where the key is a wrong one.
   */
  static async start(options: ClusterOptions, deps: ClusterDeps): Promise<Cluster> {
    const cluster = new Cluster(options, deps);
    try {
      await cluster.#join();
      return cluster;
    } catch (fault) {
      await cluster.stop();
      throw fault;
    }
  }

  /** Other boxes changed something that was configured. */
  get changed(): Signal<[effects: SharedEffects]> {
    return this.#settings.changed;
  }

  /** Why nothing can be changed now, or what others change isn't seen, or whose clocks are apart; null: all is well. */
  get fault(): string | null {
    const namesake = this.boxes.hasNamesake ? `another box is called ${this.#options.boxName}, too` : null;
    const unheard = this.boxes.isUnheard
      ? `what this box says doesn't come back to it: may it publish and subscribe framering.${this.#options.clusterName}.>?`
      : null;
    const { read, changed } = this.#faults;
    const ofOthers = read ?? changed ?? this.#settings.fault ?? this.owners.fault;
    return namesake ?? unheard ?? this.#link.fault ?? ofOthers ?? this.#boxes?.clockFault ?? null;
  }

  /** Who is here. */
  get boxes(): BoxesView {
    return this.#boxes?.view ?? nobodyYet;
  }

  /** Takes its share of the cameras from now on. */
  begin({ version, mainStats, cameras, relayPort, store: queue }: OwnStart): void {
    const { address, ca, login, boxName, clusterName, secret, capacity, boxAddress, lostMs } = this.#options;
    const { clock, log, store } = this.#deps;
    this.#boxes = new Boxes(
      {
        ...{ link: { address, ca, login, boxName }, clusterName, lostMs, mainStats },
        key: derivedKey(secret, clusterName, 'boxes'),
        own: { name: boxName, boot: this.#boot, capacity, address: boxAddress, relayPort, version },
      },
      {
        ...{ clock, log },
        memory: {
          known: knownBoxesIn(store.facts.text(KNOWN_FACT)),
          remember: (known) => store.facts.setText(KNOWN_FACT, JSON.stringify(known)),
        },
      },
    );
    this.#boxes.changed.on((hasNews) => {
      this.#boxes?.tell(this.owners.count, queue());
      if (hasNews) this.owners.lookSoon();
    });
    this.questions.answer('forget_box', async (box) => {
      if (typeof box === 'string' && !this.#isHere(box)) this.#forget(box);
    });
    this.owners.begin(cameras);
  }

  /**
   * A box is gone for good: no box waits for it or counts it any more. Returns those that couldn't be told, which count it for 10
   * minutes more. `isKnown`: something is left of it, though nobody waits for it. Throws `not_found`, `box_here`.
   */
  async forget(name: string, isKnown: boolean): Promise<readonly string[]> {
    const { boxes, awaited } = this.boxes;
    if (!boxes.some((box) => box.name === name) && !awaited.includes(name) && !isKnown)
      throw new AppError('not_found', `there is no box ${name}`);
    if (this.#isHere(name))
      throw clusterError('box_here', `the box ${name} is here: end it first, and it goes by itself`);
    this.#forget(name);
    this.#deps.log.info('a box is gone for good', { box: name });
    const others = boxes.filter(({ isHere, name: other }) => isHere && other !== this.#options.boxName);
    const told = await Promise.allSettled(
      others.map(({ name: other }) => this.questions.ask(other, 'forget_box', name)),
    );
    return others.filter((_, index) => told[index]?.status === 'rejected').map((other) => other.name);
  }

  #isHere(name: string): boolean {
    return this.boxes.boxes.some((box) => box.name === name && box.isHere);
  }

  #forget(name: string): void {
    this.#boxes?.forget(name);
    this.forgotten.emit(name);
  }

  /** Before the service ends: others take all cameras while this box still has them. */
  async handOver(): Promise<void> {
    this.#boxes?.leave();
    await this.owners.leave(HAND_OVER_MS);
  }

  async stop(): Promise<void> {
    this.#timer?.cancel();
    this.#news?.cancel();
    this.owners.stop();
    await this.#boxes?.stop();
    await this.#link.stop();
    // What is still asked for fails now, and is over before the store is closed.
    await this.#settings.follow().catch(() => undefined);
  }

  #buildOwners(): Ownership {
    const { boxName: box, clusterName, secret, lostMs } = this.#options;
    const { clock, log, store } = this.#deps;
    const own = { box, boot: this.#boot };
    const link = this.#link;
    const sealedFor = (purpose: string) => new SealedText(derivedKey(secret, clusterName, purpose));
    const owners: Ownership = new Ownership(
      { ...own, lostMs },
      {
        ...{ clock, log, holdings: store.holdings, boxes: () => this.boxes },
        claims: new Claims(clusterName, { link, sealed: sealedFor('owners') }),
        wire: new ReportWire(clusterName, own, {
          ...{ clock, link, log, sealed: sealedFor('cameras') },
          onReport: (report) => owners.hear(report),
        }),
      },
    );
    return owners;
  }

  async #join(): Promise<void> {
    const { clock, log, store } = this.#deps;
    const hasCopy = store.users.hasAdmin();
    const untilMs = clock.monotonicMs() + (hasCopy ? WAIT_WITH_COPY_MS : WAIT_WITHOUT_MS);
    while (!this.#settings.isJoined && clock.monotonicMs() < untilMs) {
      if (this.#link.connection !== null) await this.#look();
      if (!this.#settings.isJoined)
        await new Promise<void>((resolve) => clock.after(START_RETRY_MS, resolve));
    }
    if (!this.#settings.isJoined) {
      const reason = this.fault ?? 'it does not answer';
      if (!hasCopy)
        throw clusterError(
          'cluster_unavailable',
          `the cluster can't be joined: ${reason}; and there are no settings to start by without it`,
        );
      log.warn("the cluster can't be joined yet: this box starts by its own copy of the settings", {
        reason,
      });
    }
    this.#link.up.on(() => void this.#look());
    this.#timer = clock.every(FOLLOW_EVERY_MS, () => void this.#look());
  }

  /** Takes over what is new. Whoever asks meanwhile has it looked for once more. */
  async #look(): Promise<void> {
    this.#isWanted = true;
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      while (this.#isWanted) {
        this.#isWanted = false;
        await this.#lookOnce();
      }
    } finally {
      this.#isLooking = false;
    }
  }

  #lookSoon(): void {
    const { clock } = this.#deps;
    const restMs = Math.max(0, this.#lookedMs + NEWS_EVERY_MS - clock.monotonicMs());
    this.#news ??= clock.after(restMs, () => {
      this.#news = null;
      void this.#look();
    });
  }

  /** Throws where the connection was closed just now. */
  #listen(connection: NatsConnection): void {
    if (this.#listening.has(connection)) return;
    this.#changes.listen(connection, () => this.#lookSoon());
    this.questions.listen(connection);
    this.#listening.add(connection);
  }

  async #lookOnce(): Promise<void> {
    const { connection } = this.#link;
    if (connection === null) return;
    const nowMs = this.#deps.clock.monotonicMs();
    this.#lookedMs = nowMs;
    // By turns: a log that is gone can't be read, and is asked for all the same.
    const isCheck = nowMs >= this.#nextCheckMs;
    const what: keyof Faults = isCheck ? 'changed' : 'read';
    try {
      this.#listen(connection);
      if (isCheck) {
        this.#nextCheckMs = nowMs + CHECK_EVERY_MS;
        await this.#settings.check();
        this.#see('changed', null);
      } else await this.#settings.follow();
      this.#see('read', null);
    } catch (thrown) {
      const isKeyWrong = thrown instanceof AppError && thrown.code === 'cluster_key_wrong';
      // Where the key was right before, somebody has done something to the log.
      if (isKeyWrong && this.#timer === null && !this.#memory.isOfThisKey)
        throw new AppError('bad_config', messageOf(thrown), { cause: thrown });
      this.#see(what, messageOf(thrown));
    }
  }

  #see(what: keyof Faults, fault: string | null): void {
    const before = this.#faults[what];
    this.#faults[what] = fault;
    const { log } = this.#deps;
    if (before !== null && fault === null) log.info(`the cluster's settings can be ${what} again`);
    else if (before === null && fault !== null)
      log.warn(`the cluster's settings can't be ${what}`, { reason: fault });
  }
}
