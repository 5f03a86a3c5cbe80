import type { Clock } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import type { SeenThere } from '../../relay/wire/texts.js';
import { closeLeftRing } from '../../ring/replacement.js';
import { cameraIdOf, sourceFields } from '../../ring/source-key.js';
import type { AnalyticsNews, RecordingNews } from '../messages.js';
import { isSameSource } from '../quirks.js';
import { Camera, type CameraDeps, type CameraSettings, type CameraSlot } from './camera.js';
import { Departures } from './departures.js';
import { Documents } from './documents.js';
import { Fleet, type Host, type HostMessage, type ThreadLosses } from './fleet.js';
import { type CameraFeed, type FeedListener, Followers } from './followers.js';
import { Housing, type Lodger } from './housing.js';
import type { CamerasPerWorker } from './packing.js';
import type { RecordingOffice } from './recording-office.js';
import { RingBudget, type RingFigures } from './ring-budget.js';
import { StartGate } from './start-gate.js';
import { Suspects, type Suspicion } from './suspects.js';
import type { CameraThreadSetup, CameraWorker, SpawnCameraWorker } from './worker-thread.js';

export type CamerasOptions = {
  readonly camerasPerWorker: CamerasPerWorker;
  readonly coreCount: number;
  /** For all rings together; without it they are as large as they like. */
  readonly ringMemoryBytes?: number;
  /** How other boxes are asked for their cameras; without it there are none. */
  readonly relay?: CameraThreadSetup['relay'];
};

export type AnalyticsListener = {
  /** Whether the camera sends analytics at present. */
  onTrack(cameraId: string, isThere: boolean): void;
  onNews(cameraId: string, news: AnalyticsNews): void;
  /** Another box, of which its frames come, says what is seen in one; of both sources it may say the same. */
  onSeenThere(cameraId: string, seen: SeenThere): void;
};

/** The path of frames that come by no other box. */
const HERE: readonly string[] = [];

const noRecording: RecordingNews = { fileName: null, fault: null };

type Seat = Lodger & {
  /** Its thread was told of it, and has its ring. */
  isOpen: boolean;
  /** The attempt whose session may still write to the ring, until the worker says that it ended. */
  openAttempt: number | null;
  /** The boxes that its frames come by before this one; null: that isn't known yet. */
  path: readonly string[] | null;
  hasMetadata: boolean;
  /** What its own analytics see isn't asked for, since that ended its sessions. */
  isMetadataHeldOff: boolean;
};

/**
 * All sources of all cameras and the worker threads they live in: for most of what is in here each is a camera of its
 * own, and its key stands where an id would. A camera changes its worker only while it is
 * away (its socket can't move between threads), and takes its ring along, so readers notice nothing but a gap.
 */
export class Cameras {
  readonly #log: Logger;
  readonly #recordings: RecordingOffice;
  readonly #analytics: AnalyticsListener | null;
  readonly #cameraDeps: CameraDeps;
  readonly #seats = new Map<string, Seat>();
  readonly #fleet: Fleet;
  readonly #suspects: Suspects;
  readonly #budget: RingBudget;
  readonly #housing: Housing;
  readonly #departures: Departures;
  readonly #followers: Followers;
  /** What cameras' own analytics tell, as it comes. */
  readonly documents: Documents;
  #stopping: Promise<void> | null = null;

  constructor(
    options: CamerasOptions,
    deps: {
      clock: Clock;
      log: Logger;
      spawn: SpawnCameraWorker;
      /** The status of some camera is another than before. */
      onChange?: () => void;
      recordings: RecordingOffice;
      /** Hears what cameras' own analytics tell. */
      analytics?: AnalyticsListener;
      /** Rings were let go of: their memory is free when all threads have collected their garbage. */
      collectGarbage?: () => void;
    },
  ) {
    this.#log = deps.log;
    this.#recordings = deps.recordings;
    this.#analytics = deps.analytics ?? null;
    this.#cameraDeps = {
      ...{ clock: deps.clock, log: deps.log, gate: new StartGate(deps.clock) },
      placement: {
        heldOff: (cameraId) => this.#suspects.heldOff(cameraId),
        slotFor: (cameraId) => this.#slotFor(cameraId),
        vacate: (cameraId) => this.#vacate(cameraId),
      },
      ...(deps.onChange === undefined ? {} : { onChange: deps.onChange }),
    };
    this.#suspects = new Suspects(deps.clock);
    this.#budget = new RingBudget(options.ringMemoryBytes ?? Number.POSITIVE_INFINITY, {
      clock: deps.clock,
      collectGarbage: deps.collectGarbage ?? (() => {}),
    });
    this.#departures = new Departures(deps.clock);
    this.#followers = new Followers({
      clock: deps.clock,
      has: (key) => this.#seats.has(key),
      feed: (key) => feedOf(this.#seats.get(key)),
      onWish: (key, isWanted) => this.#seats.get(key)?.camera.want(isWanted),
      onFault: (key, fault) =>
        this.#log.error('a reader failed over news of its ring', {
          ...sourceFields(key),
          reason: messageOf(fault),
        }),
    });
    this.documents = new Documents({
      has: (key) => this.#seats.get(key)?.hasMetadata === true,
      onWish: (key) => this.#sendDocuments(this.#seats.get(key)),
    });
    this.#fleet = new Fleet({
      clock: deps.clock,
      log: deps.log,
      spawn: deps.spawn,
      setupFor: (workerName) => ({
        ...this.#recordings.openWorker(workerName),
        ...({
          ringCeiling: this.#budget.ceiling.memory,
          relay: options.relay ?? null,
        } satisfies CameraThreadSetup),
      }),
      onMessage: (host, message) => this.#onMessage(host, message),
      onLost: (host, wasReady) => this.#onWorkerLost(host, wasReady),
      onClosed: (workerName) => this.#recordings.closeWorker(workerName),
      onRound: () => this.#onRound(),
    });
    const lodgings = { fleet: this.#fleet, suspects: this.#suspects, lodgers: this.#seats };
    this.#housing = new Housing(options, { clock: deps.clock, ...lodgings });
  }

  get ids(): readonly string[] {
    return [...this.#seats.keys()];
  }

  get workerCount(): number {
    return this.#fleet.hosts.length;
  }

  /** The memory of all rings. */
  get ringFigures(): RingFigures {
    return this.#budget.figures;
  }

  /** Threads that died or hung since the start. */
  get threadLosses(): ThreadLosses {
    return this.#fleet.losses;
  }

  get(cameraId: string): Camera | undefined {
    return this.#seats.get(cameraId)?.camera;
  }

  /** Whether it is one that ends threads. */
  suspicionOf(cameraId: string): Suspicion {
    return this.#suspects.of(cameraId);
  }

  /**
   * The camera's ring, where counters and stream facts are read without asking its worker: also while it has none,
   * since the next one takes the ring over.
   */
  ring(cameraId: string): SharedArrayBuffer | null {
    return this.#seats.get(cameraId)?.ring ?? null;
  }

  /** Whether it tells what it sees beside its pictures; null: it is connecting, and nobody knows. */
  hasMetadata(cameraId: string): boolean | null {
    const seat = this.#seats.get(cameraId);
    if (seat === undefined) return null;
    if (seat.hasMetadata) return true;
    const { state } = seat.camera.status();
    return state === 'streaming' || state === 'standby' ? false : null;
  }

  /** Whether it may see things by itself of which nobody hears, as its sessions end when it is asked for them. */
  isMetadataHeldOff(cameraId: string): boolean {
    return this.#seats.get(cameraId)?.isMetadataHeldOff === true;
  }

  /** Makes `wanted` the whole set: others go, new ones start, changed ones restart if their source changed. */
  replaceAll(wanted: readonly CameraSettings[]): void {
    const ids = new Set(wanted.map((settings) => settings.id));
    for (const id of this.ids) if (!ids.has(id)) this.remove(id);
    this.setAll(wanted);
  }

  /** Adds cameras, which are all known before the first starts, so that packing sees them; gives others new settings. */
  setAll(wanted: readonly CameraSettings[]): void {
    const added = wanted.filter((settings) => !this.#seats.has(settings.id));
    for (const settings of wanted) this.#update(settings);
    for (const camera of added.map((settings) => this.#add(settings))) camera.start();
  }

  remove(cameraId: string): void {
    const seat = this.#seats.get(cameraId);
    if (seat === undefined) return;
    seat.camera.stop();
    this.#suspects.forget(cameraId);
    this.#seats.delete(cameraId);
    this.#followers.onRemoved(cameraId);
  }

  /**
   * Follows the feed of a source, which is wanted as long as somebody does that; returns the function that stops
   * following. Whoever follows a sub-stream gets the main stream while there is none.
   */
  follow(key: string, listener: FeedListener): () => void {
    return this.#followers.follow(key, listener);
  }

  /** Whether the source is connected because somebody follows it: then its frames don't come at once. */
  isOnDemand(key: string): boolean {
    const settings = this.#seats.get(this.#followers.sourceOf(key))?.camera.settings;
    return settings?.isOnDemand === true && !settings.isRecorded;
  }

  /** Ends every session and every worker. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopOnce();
    return this.#stopping;
  }

  async #stopOnce(): Promise<void> {
    this.#followers.stop();
    for (const { camera } of this.#seats.values()) camera.stop();
    await this.#fleet.ended();
  }

  #update(settings: CameraSettings): void {
    const seat = this.#seats.get(settings.id);
    if (seat === undefined) return;
    const { isRecorded: wasRecorded, recordMode: modeBefore, source, endsThreads } = seat.camera.settings;
    const isAnother = source.url !== settings.source.url;
    if (isAnother) this.#suspects.forget(settings.id);
    if (settings.endsThreads === true) {
      // Not even its next session may be in a thread that others are in.
      const cell = seat.host?.cell ?? null;
      const isAlone = !isAnother && cell?.members.size === 1 && this.#suspects.isCell(cell);
      if (seat.host !== null && !isAlone && !isSameSource(source, settings.source)) seat.camera.stop();
      if (isAnother || endsThreads !== true) this.#suspects.suspect(settings.id);
      if (seat.camera.restState !== null) this.#suspects.rest(settings.id);
    }
    seat.camera.update(settings);
    const isOtherMode = settings.isRecorded && settings.recordMode !== modeBefore;
    if (settings.isRecorded !== wasRecorded || isOtherMode) this.#sendRecord(seat);
  }

  #sendRecord({ camera, host, isOpen }: Seat): void {
    if (!isOpen) return;
    const { isRecorded: isWanted, recordMode: mode = 'continuous' } = camera.settings;
    host?.worker?.send({ type: 'record', cameraId: camera.id, isWanted, mode });
  }

  #sendDocuments(seat: Seat | undefined): void {
    if (seat?.isOpen !== true) return;
    const { id: cameraId } = seat.camera;
    const isWanted = this.documents.isWanted(cameraId);
    seat.host?.worker?.send({ type: 'documents', cameraId, isWanted });
  }

  #add(settings: CameraSettings): Camera {
    if (settings.endsThreads === true) this.#suspects.suspect(settings.id);
    const camera = new Camera(settings, this.#cameraDeps, this.#followers.isWanted(settings.id));
    this.#seats.set(settings.id, {
      camera,
      host: null,
      ring: null,
      watchedMs: null,
      isOpen: false,
      openAttempt: null,
      path: null,
      hasMetadata: false,
      isMetadataHeldOff: false,
    });
    this.#followers.onAdded(settings.id);
    return camera;
  }

  #slotFor(cameraId: string): CameraSlot {
    const seat = this.#seats.get(cameraId)!;
    if (seat.openAttempt === null && !this.#housing.isWellPlaced(seat)) {
      this.#leaveHost(seat, false);
      this.#enterHost(seat, this.#housing.hostFor(seat));
    }
    const send = (message: Parameters<CameraWorker['send']>[0]): void => seat.host?.worker?.send(message);
    let waiting: number | null = null;
    return {
      connect: (attempt, source) => {
        seat.openAttempt = attempt;
        waiting = attempt;
        this.#setPath(seat, source.from === undefined ? HERE : null);
        this.#departures.whenGone(cameraId, () => {
          if (waiting !== attempt || seat.openAttempt !== attempt) return;
          waiting = null;
          send({ type: 'connect', cameraId, attempt, source });
        });
      },
      disconnect: () => {
        if (waiting === null) send({ type: 'disconnect', cameraId });
        // No session will tell of its end.
        else seat.openAttempt = null;
        waiting = null;
      },
    };
  }

  /** Once a second. */
  #onRound(): void {
    this.#clearSuspects();
    this.#housing.round();
    this.#budget.round([...this.#seats.values()].flatMap(({ ring }) => ring ?? []));
  }

  #setPath(seat: Seat, path: readonly string[] | null): void {
    if (seat.path === path) return;
    seat.path = path;
    this.#followers.onFeed(seat.camera.id);
  }

  #setMetadata(seat: Seat, isThere: boolean): void {
    if (seat.hasMetadata === isThere) return;
    seat.hasMetadata = isThere;
    this.#analytics?.onTrack(seat.camera.id, isThere);
  }

  #setRing(seat: Seat, ring: SharedArrayBuffer | null): void {
    if (seat.ring !== null && seat.ring !== ring) this.#budget.release(seat.ring);
    seat.ring = ring;
  }

  /** Whoever is cleared goes back to the others, one camera a round: it has to connect anew for that. */
  #clearSuspects(): void {
    for (const id of this.#suspects.clear())
      this.#log.info('camera is no longer suspected of ending its thread', sourceFields(id));
    const left = this.#fleet.hosts.find(({ cell }) => cell !== null && !this.#suspects.isCell(cell));
    if (left === undefined) return;
    if (this.#fleet.open.length < this.#housing.wanted) {
      left.cell = null;
      return;
    }
    const moving = [...left.cameraIds].find((id) => this.#seats.get(id)?.openAttempt !== null);
    if (moving !== undefined) left.worker?.send({ type: 'disconnect', cameraId: moving });
  }

  #vacate(cameraId: string): void {
    const seat = this.#seats.get(cameraId)!;
    this.#leaveHost(seat, true);
    this.#suspects.rest(cameraId);
    this.#setMetadata(seat, false);
    seat.isMetadataHeldOff = false;
    seat.openAttempt = null;
    this.#setRing(seat, null);
  }

  /** A ring that goes along is opened when the thread before has let go of it: it counts and records what came last. */
  #enterHost(seat: Seat, host: Host): void {
    seat.host = host;
    host.cameraIds.add(seat.camera.id);
    if (seat.ring === null) this.#open(seat, host);
    else this.#departures.whenGone(seat.camera.id, () => this.#open(seat, host));
  }

  #open(seat: Seat, host: Host): void {
    if (seat.isOpen || seat.host !== host) return;
    seat.isOpen = true;
    host.worker?.send({ type: 'open', cameraId: seat.camera.id, ring: seat.ring });
    if (seat.camera.settings.isRecorded) this.#sendRecord(seat);
    if (this.documents.isWanted(seat.camera.id)) this.#sendDocuments(seat);
  }

  #leaveHost(seat: Seat, closeRing: boolean): void {
    const { host, isOpen } = seat;
    if (closeRing && !isOpen && seat.ring !== null) closeLeftRing(seat.ring);
    if (host === null) return;
    seat.host = null;
    seat.isOpen = false;
    host.cameraIds.delete(seat.camera.id);
    if (isOpen && host.worker !== null) {
      this.#departures.begin(seat.camera.id);
      host.worker.send({ type: 'release', cameraId: seat.camera.id, closeRing });
    }
    this.#recordings.onNews(seat.camera.id, noRecording);
    if (host.cameraIds.size === 0) this.#fleet.drop(host);
  }

  #onWorkerLost(host: Host, wasReady: boolean): void {
    const held = [...host.cameraIds];
    const busy = held.filter((id) => this.#seats.get(id)?.openAttempt !== null);
    if (wasReady) this.#suspects.threadDied(busy.length > 0 ? busy : held);
    for (const id of held) {
      const seat = this.#seats.get(id)!;
      // Found out again while the word of it is still out: it takes no place of those that are sought.
      if (seat.camera.settings.endsThreads === true && this.suspicionOf(id) === 'found_out')
        this.#suspects.suspect(id);
      seat.host = null;
      seat.isOpen = false;
      seat.openAttempt = null;
      this.#setMetadata(seat, false);
      this.#recordings.onWorkerLost(id);
      seat.camera.onWorkerLost();
    }
  }

  #onMessage(host: Host, message: HostMessage): void {
    if (message.type === 'log') {
      this.#log[message.level](message.message, message.fields);
      return;
    }
    if (message.type === 'recording_file') {
      const { cameraId, fileName, state, progress } = message;
      this.#recordings.onFile(host.name, cameraId, fileName, state, progress);
      return;
    }
    if (message.type === 'released') {
      this.#departures.end(message.cameraId);
      return;
    }
    const seat = this.#seats.get(message.cameraId);
    if (message.type === 'unrecorded') {
      // The recorder may close its last file when the camera has moved on.
      if (seat !== undefined) this.#recordings.onLost(message.cameraId, message.frames);
      return;
    }
    // A camera that was removed, or has moved on, no longer listens to this worker.
    if (seat === undefined || seat.host !== host) return;
    switch (message.type) {
      case 'ring':
        this.#setRing(seat, message.ring);
        this.#followers.onFeed(message.cameraId);
        break;
      case 'recording':
        this.#recordings.onNews(message.cameraId, message.news);
        break;
      case 'playing':
        if (seat.openAttempt === message.attempt) seat.isMetadataHeldOff = false;
        seat.camera.onPlaying(message.attempt);
        break;
      case 'waiting':
        seat.camera.onWaiting(message.attempt, message.waiting);
        break;
      case 'streaming':
        seat.camera.onStreaming(message.attempt);
        break;
      case 'path':
        if (seat.openAttempt === message.attempt) this.#setPath(seat, message.path);
        break;
      case 'quirks':
        seat.camera.onQuirks(message.attempt, message.names);
        break;
      case 'metadata':
        if (seat.openAttempt === message.attempt) this.#setMetadata(seat, message.isThere);
        break;
      case 'metadata_held_off':
        if (seat.openAttempt === message.attempt) seat.isMetadataHeldOff = true;
        break;
      case 'analytics':
        if (seat.hasMetadata) this.#analytics?.onNews(message.cameraId, message.news);
        break;
      case 'seen':
        this.#analytics?.onSeenThere(cameraIdOf(message.cameraId), message.seen);
        break;
      case 'document':
        this.documents.onDocument(message.cameraId, message);
        break;
      case 'ended':
        this.#setMetadata(seat, false);
        if (seat.openAttempt === message.attempt) {
          seat.openAttempt = null;
          if (seat.path !== HERE) this.#setPath(seat, null);
        }
        seat.camera.onEnded(message.attempt, message.fault);
        break;
    }
  }
}

const feedOf = (seat: Seat | undefined): CameraFeed | null => {
  const bell = seat?.host?.bell ?? null;
  const ring = seat?.ring ?? null;
  return ring === null || bell === null ? null : { ring, bell, path: seat?.path ?? null };
};
