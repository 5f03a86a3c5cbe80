import assert from 'node:assert/strict';
import type { MonotonicMs } from '../../src/base/clock.js';
import { createLogger } from '../../src/base/log.js';
import { SILENT_AFTER_MS } from '../../src/camera/frame-pace.js';
import type { Beat } from '../../src/cluster/boxes/beat.js';
import { type BoxesView, BoxTable, type KnownBox } from '../../src/cluster/boxes/box-table.js';
import { Ownership } from '../../src/cluster/owners/ownership.js';
import { type Report, reportBytes, reportOf } from '../../src/cluster/owners/report.js';
import type { Holding } from '../../src/store/holdings.js';
import { FakeClock } from '../support/fake-clock.js';

const LOST_MS = 1_500;
const STEP_MS = 50;
/** To connect; and to the next keyframe. */
const ANSWERED_AFTER_MS = 400;
const READY_AFTER_MS = 1_200;

type Camera = { readonly id: string; box: string | null };

/** So few that what a box has comes in several. */
const ROWS_PER_PART = 4;

/** What the servers have, whether they can be asked or not. */
class ModelClaims {
  readonly epochs = new Map<string, number>();
  isAway = false;
  /** Whoever answers doesn't know the last claims yet. */
  isBehind = false;
  asked = 0;

  async claim(cameraId: string, _by: object, atLeast: number): Promise<number | null> {
    this.asked += 1;
    if (this.isBehind) return null;
    if (this.isAway) throw new Error('no leader');
    const epoch = Math.max((this.epochs.get(cameraId) ?? 0) + 1, atLeast);
    this.epochs.set(cameraId, epoch);
    return epoch;
  }
}

/** One box of the model: it runs the real rules, and what it records takes its time. */
export class ModelBox {
  readonly name: string;
  readonly #model: ClusterModel;
  ownership: Ownership | null = null;
  isFrozen = false;
  #isLeaving = false;
  #boot = '';
  #boots = 0;
  #seq = 0;
  #startedMs = 0 as MonotonicMs;
  #table: BoxTable | null = null;
  /** As its pulse told last. */
  #view!: BoxesView;
  #known: readonly KnownBox[] = [];
  /** Its database takes nothing. */
  isDiskFull = false;
  /** As its database has them. */
  readonly #open = new Map<string, number>();
  readonly sinceMs = new Map<string, number>();
  readonly deaf = new Set<string>();
  /** It is heard to live, and what it has isn't heard. */
  isMute = false;
  /** What its copy of the settings doesn't have. */
  readonly unaware = new Set<string>();
  /** What it can't connect. */
  readonly unreachable = new Set<string>();
  /** Cameras that may end its threads. */
  readonly suspicions = new Map<string, 'suspected' | 'found_out'>();
  /** Those that it took knowing that they end threads. */
  readonly takenAsEnders = new Set<string>();
  /** What it records, but nothing of the file that has just begun is on the disk yet. */
  readonly betweenFiles = new Set<string>();
  /** How often it took each camera. */
  readonly takes = new Map<string, number>();

  constructor(name: string, model: ClusterModel) {
    this.name = name;
    this.#model = model;
  }

  get isHere(): boolean {
    return this.ownership !== null;
  }

  /** The service has other things to do before it takes cameras. */
  start(forMs = 0): void {
    const { clock, claims } = this.#model;
    this.#boot = `${this.name}-${++this.#boots}`;
    this.#isLeaving = false;
    const own = { box: this.name, boot: this.#boot };
    let seq = 0;
    const send = (report: Omit<Report, 'box' | 'boot'>) =>
      this.#model.carry(this, (to) => {
        const heard = reportOf(reportBytes({ ...own, ...report }));
        if (!this.isMute) to.ownership?.hear(heard!);
      });
    const ownership = new Ownership(
      { ...own, lostMs: LOST_MS },
      {
        ...{ clock, claims, log: createLogger(() => {}), boxes: () => this.#view },
        holdings: {
          open: () => [...this.#open].map(([cameraId, epoch]) => ({ cameraId, epoch })),
          begin: (holdings) => this.#write(holdings),
          claim: (holdings) => this.#write(holdings),
          end: (ids) => {
            if (this.isDiskFull) throw new Error('disk full');
            for (const id of ids) this.#open.delete(id);
          },
        },
        wire: {
          listen: () => {},
          tellAll: (cameraIds, rowOf) => {
            const count = Math.max(1, Math.ceil(cameraIds.length / ROWS_PER_PART));
            const numbered = { seq: seq++, dropped: [] };
            for (let index = 0; index < count; index++) {
              const ids = cameraIds.slice(index * ROWS_PER_PART, (index + 1) * ROWS_PER_PART);
              send({ ...numbered, part: [index, count], rows: ids.map(rowOf) });
            }
          },
          tellSome: (rows, dropped) => send({ seq: seq++, part: null, rows, dropped }),
        },
      },
    );
    ownership.changed.on((ids) => {
      for (const id of ids)
        if (ownership.has(id)) {
          if (!this.sinceMs.has(id)) {
            this.takes.set(id, (this.takes.get(id) ?? 0) + 1);
            if (ownership.endsThreads(id)) this.takenAsEnders.add(id);
          }
          this.sinceMs.set(id, this.sinceMs.get(id) ?? clock.monotonicMs());
        } else this.sinceMs.delete(id);
    });
    if (forMs === 0) this.#begin(ownership);
    else clock.after(forMs, () => this.#begin(ownership));
  }

  #begin(ownership: Ownership): void {
    this.#startedMs = this.#model.clock.monotonicMs();
    this.#table = new BoxTable({ name: this.name, lostMs: LOST_MS, known: this.#known }, this.#startedMs);
    this.#view = this.#viewOf(this.#table);
    this.ownership = ownership;
    ownership.begin({
      list: () => this.#model.cameras.filter(({ id }) => !this.unaware.has(id)),
      worksUntilMs: (id) =>
        this.isReady(id) && !this.betweenFiles.has(id)
          ? this.#model.clock.monotonicMs() + SILENT_AFTER_MS
          : null,
      hasAnswered: (id) => this.hasAnswered(id),
      isUnauthorized: (id) => this.#model.refusing.has(id),
      suspicionOf: (id) => this.suspicions.get(id) ?? 'none',
      figures: () => [this.name],
    });
  }

  isReady(id: string): boolean {
    return this.#reachedMs(id) >= READY_AFTER_MS;
  }

  hasAnswered(id: string): boolean {
    return this.#reachedMs(id) >= ANSWERED_AFTER_MS;
  }

  #reachedMs(id: string): number {
    const sinceMs = this.sinceMs.get(id);
    if (sinceMs === undefined || this.unreachable.has(id) || this.#model.refusing.has(id)) return 0;
    return this.#model.clock.monotonicMs() - sinceMs;
  }

  kill(): void {
    this.ownership?.stop();
    this.ownership = null;
    this.sinceMs.clear();
  }

  async leave(): Promise<void> {
    this.#isLeaving = true;
    this.beat();
    await this.ownership?.leave(8_000);
    this.#say('gone');
    this.kill();
  }

  beat(): void {
    if (this.isHere && !this.isFrozen) this.#say(this.#isLeaving ? 'leaving' : 'here');
  }

  look(): void {
    if (this.#table === null || !this.isHere || this.isFrozen) return;
    const { clock } = this.#model;
    const hasNews = this.#table.look({
      nowMs: clock.monotonicMs(),
      wallMs: clock.wallMs(),
      isConnected: true,
    });
    this.#known = this.#table.known;
    this.#view = this.#viewOf(this.#table);
    if (hasNews) this.ownership?.lookSoon();
  }

  get #own() {
    const own = {
      boot: this.#boot,
      capacity: 1,
      load: 0,
      address: `http://${this.name}:8080`,
      relayPort: 7440,
      store: null,
      version: '1',
    };
    return { ...own, cameras: this.ownership?.count ?? 0 };
  }

  #viewOf(table: BoxTable): BoxesView {
    return table.view({ ...this.#own, isLeaving: this.#isLeaving }, this.#startedMs);
  }

  /** What its database has, by camera. */
  get written(): ReadonlyMap<string, number> {
    return this.#open;
  }

  #write(holdings: readonly Holding[]): void {
    if (this.isDiskFull) throw new Error('disk full');
    for (const { cameraId, epoch } of holdings) this.#open.set(cameraId, epoch);
  }

  #say(state: Beat['state']): void {
    const hears = this.#table!.hears;
    const beat: Beat = { ...this.#own, box: this.name, seq: this.#seq++, state, wallMs: null, hears };
    this.#table!.hear({ boot: this.#boot }, beat, this.#model.clock.monotonicMs());
    this.#model.carry(this, (to) =>
      to.#table?.hear({ boot: to.#boot }, beat, this.#model.clock.monotonicMs()),
    );
  }
}

/** Boxes, what they say to each other, and time. */
export class ClusterModel {
  readonly clock = new FakeClock();
  readonly claims = new ModelClaims();
  readonly cameras: Camera[];
  /** Cameras whose password is another one now. */
  readonly refusing = new Set<string>();
  readonly boxes: ModelBox[];
  /** Since when nobody has it working; the longest that was. */
  readonly longestGapMs = new Map<string, number>();
  readonly #gapSinceMs = new Map<string, number>();
  #steps = 0;

  constructor(boxes: number, cameras: number) {
    this.cameras = Array.from({ length: cameras }, (_, index) => ({ id: `cam-${index}`, box: null }));
    this.boxes = Array.from({ length: boxes }, (_, index) => new ModelBox(`box-${index}`, this));
  }

  carry(from: ModelBox, deliver: (to: ModelBox) => void): void {
    for (const to of this.boxes)
      if (to !== from && to.isHere && !to.isFrozen && !to.deaf.has(from.name))
        this.clock.after(5, () => {
          if (to.isHere && !to.isFrozen) deliver(to);
        });
  }

  async pass(durationMs: number): Promise<void> {
    for (let passed = 0; passed < durationMs; passed += STEP_MS) {
      this.clock.advance(STEP_MS);
      if (this.#steps % 6 === 0) for (const box of this.boxes) box.beat();
      if (this.#steps++ % 2 === 0) for (const box of this.boxes) box.look();
      // Claims are answered.
      await new Promise((resolve) => setImmediate(resolve));
      this.#measure();
    }
  }

  owners(id: string): ModelBox[] {
    return this.boxes.filter((box) => box.ownership?.has(id) === true);
  }

  forgetGaps(): void {
    this.longestGapMs.clear();
    this.#gapSinceMs.clear();
  }

  /** Cameras by how many have them. */
  get ownerCounts(): number[] {
    return this.cameras.map(({ id }) => this.owners(id).length);
  }

  #measure(): void {
    const nowMs = this.clock.monotonicMs();
    for (const { id } of this.cameras) {
      if (this.boxes.some((box) => box.isHere && box.isReady(id))) {
        this.#gapSinceMs.delete(id);
        continue;
      }
      const sinceMs = this.#gapSinceMs.get(id) ?? nowMs;
      this.#gapSinceMs.set(id, sinceMs);
      this.longestGapMs.set(id, Math.max(this.longestGapMs.get(id) ?? 0, nowMs - sinceMs));
    }
  }
}

/** A cluster whose boxes have their shares, and would be given some back. */
export const settledModel = async (boxes: number, cameras: number): Promise<ClusterModel> => {
  const model = new ClusterModel(boxes, cameras);
  for (const box of model.boxes) box.start();
  await model.pass(80_000);
  assert.deepEqual(new Set(model.ownerCounts), new Set([1]));
  model.forgetGaps();
  for (const { takes } of model.boxes) takes.clear();
  return model;
};
