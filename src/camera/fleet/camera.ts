import type { Clock, MonotonicMs, Timer } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import { sourceFields } from '../../ring/source-key.js';
import type { QuirkName } from '../../store/cameras.js';
import type { CameraSource, SessionFault, Waiting } from '../messages.js';
import { isSameSource } from '../quirks.js';
import { Backoff } from './backoff.js';
import type { StartGate, Ticket } from './start-gate.js';
import type { HeldOff } from './suspects.js';

export type CameraState = 'connecting' | 'streaming' | 'reconnecting' | 'error' | RestState;

/** Why a camera is not to be connected. */
export type RestState = 'disabled' | 'traffic_limited' | 'standby';

/** Whether a camera is not to be connected. */
export const isAtRest = (state: CameraState): state is RestState =>
  state === 'disabled' || state === 'traffic_limited' || state === 'standby';

/** What the supervisor needs to know of one source of a camera; everything else never touches the stream. */
export type CameraSettings = {
  /** The key of the source. */
  readonly id: string;
  readonly source: CameraSource;
  /** For the limit of handshakes per host. */
  readonly host: string;
  readonly disabled: boolean;
  readonly isRecorded: boolean;
  readonly recordMode?: 'continuous' | 'events';
  /** Over its monthly cap: it rests until that is raised or the month ends. */
  readonly isTrafficLimited?: boolean;
  /** It rests, too, while it is neither recorded nor wanted. */
  readonly isOnDemand?: boolean;
  /** It ended threads elsewhere: at first it gets one of its own. */
  readonly endsThreads?: boolean;
};

const restStateOf = (settings: CameraSettings, isWanted: boolean): RestState | null => {
  if (settings.disabled) return 'disabled';
  if (settings.isTrafficLimited === true) return 'traffic_limited';
  return settings.isOnDemand === true && !settings.isRecorded && !isWanted ? 'standby' : null;
};

/** The camera's place in a worker thread, as its supervisor sees it. */
export interface CameraSlot {
  connect(attempt: number, source: CameraSource): void;
  disconnect(): void;
}

/** Where a camera gets its slot from: asked before each attempt, so that a camera may move while it is away. */
export interface CameraPlacement {
  /** Why there is no thread for the camera now, and when to ask again; null: there is one. Asked first. */
  heldOff(cameraId: string): HeldOff | null;
  slotFor(cameraId: string): CameraSlot;
  /** The camera needs no worker and no ring any more. */
  vacate(cameraId: string): void;
}

/** The same for all of them. */
export type CameraDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly gate: StartGate;
  readonly placement: CameraPlacement;
  readonly random?: () => number;
  /** What `status` answers is another than before. */
  readonly onChange?: () => void;
};

export type CameraStatus = {
  readonly state: CameraState;
  /** "" when fine. */
  readonly lastError: string;
  /** Since when frames flow, or null. */
  readonly streamingSinceMs: MonotonicMs | null;
  readonly reconnects: number;
  /** Those that count in the session that is there. */
  readonly quirks: readonly QuirkName[];
};

/** Frames that flow this long make the next loss a new one. */
const STABLE_AFTER_MS = 10_000;

/** The camera itself says no: asking again soon won't help, and may lock the account. */
const refusals: ReadonlySet<string> = new Set([
  'unauthorized',
  'not_found',
  'unsupported_codec',
  'unsupported_transport',
  'bad_sdp',
  'bad_url',
]);

/** A session is being asked for, running, or waited for; data lives in the state that needs it. */
type Phase =
  | { readonly name: 'idle' }
  | { readonly name: 'handshake'; readonly ticket: Ticket }
  | { readonly name: 'streaming'; readonly stable: Timer }
  | { readonly name: 'waiting'; readonly timer: Timer };

/**
 * Supervises one camera: the only place that decides when to connect, and what state to show. It retries for
 * ever; only `stop` and `disabled` end that. The work is done by an `Ingest` in a worker thread.
 */
export class Camera {
  readonly id: string;
  readonly #clock: Clock;
  readonly #parentLog: Logger;
  #ownLog: Logger | null = null;
  readonly #gate: StartGate;
  readonly #placement: CameraPlacement;
  readonly #backoff: Backoff;
  readonly #onChange: () => void;
  #settings: CameraSettings;
  #isWanted: boolean;
  #slot: CameraSlot | null = null;
  #phase: Phase = { name: 'idle' };
  #state: CameraState = 'disabled';
  #lastError = '';
  /** What the session waits for that is under way. */
  #waiting: Waiting | null = null;
  #streamingSinceMs: MonotonicMs | null = null;
  #attempt = 0;
  #reconnects = 0;
  #quirks: readonly QuirkName[] = [];
  #hasAnswered = false;
  #isUnauthorized = false;

  /** `isWanted`: somebody wants its frames. */
  constructor(settings: CameraSettings, deps: CameraDeps, isWanted = false) {
    this.id = settings.id;
    this.#settings = settings;
    this.#clock = deps.clock;
    this.#isWanted = isWanted;
    this.#parentLog = deps.log;
    this.#gate = deps.gate;
    this.#placement = deps.placement;
    this.#backoff = new Backoff(deps.random);
    this.#onChange = deps.onChange ?? (() => {});
    this.#state = this.restState ?? 'connecting';
  }

  /** Made when it first says something: those that other boxes connect never do. */
  get #log(): Logger {
    this.#ownLog ??= this.#parentLog.child(sourceFields(this.id));
    return this.#ownLog;
  }

  get settings(): CameraSettings {
    return this.#settings;
  }

  /** Its state as long as it is not to be connected, or null. */
  get restState(): RestState | null {
    return restStateOf(this.#settings, this.#isWanted);
  }

  status(): CameraStatus {
    return {
      state: this.#state,
      lastError: this.#waiting === null ? this.#lastError : this.#textOf(this.#waiting),
      streamingSinceMs: this.#streamingSinceMs,
      reconnects: this.#reconnects,
      quirks: this.#quirks,
    };
  }

  /** Whether it has said in this session that it sends: pictures may follow. */
  get hasAnswered(): boolean {
    return this.#hasAnswered;
  }

  /** It said no to the password when it was asked last. */
  get isUnauthorized(): boolean {
    return this.#isUnauthorized;
  }

  start(): void {
    if (this.restState === null) this.#begin();
  }

  /** Takes new settings; the stream is interrupted only if its source changed, or whether it is to rest. */
  update(settings: CameraSettings): void {
    const before = this.restState;
    const isUnmoved = isSameSource(this.#settings.source, settings.source);
    this.#settings = settings;
    this.#settle(before, isUnmoved);
  }

  /** Whether somebody wants its frames: what is on demand connects for that, and rests without. */
  want(isWanted: boolean): void {
    const before = this.restState;
    this.#isWanted = isWanted;
    this.#settle(before, true);
  }

  #settle(before: RestState | null, isUnmoved: boolean): void {
    const rest = this.restState;
    if (rest === before && (isUnmoved || rest !== null)) return;
    if (rest !== null) {
      this.stop();
      this.#show(rest);
    } else {
      this.#interrupt();
      this.#begin();
    }
  }

  /** Ends the session and all retries, and gives the ring back; `start` begins anew. */
  stop(): void {
    this.#interrupt();
    this.#slot = null;
    this.#placement.vacate(this.id);
    this.#show('disabled');
  }

  onPlaying(attempt: number): void {
    if (attempt !== this.#attempt || this.#phase.name !== 'handshake') return;
    this.#hasAnswered = true;
    this.#isUnauthorized = false;
    this.#phase.ticket.leave();
  }

  onWaiting(attempt: number, waiting: Waiting): void {
    if (attempt !== this.#attempt) return;
    this.#waiting = waiting;
    this.#log.info('camera sends, and can not be shown yet', { waits_for: waiting.waitsFor });
    this.#onChange();
  }

  onStreaming(attempt: number): void {
    if (attempt !== this.#attempt) return;
    this.#enter({
      name: 'streaming',
      stable: this.#clock.after(STABLE_AFTER_MS, () => this.#backoff.reset()),
    });
    this.#streamingSinceMs = this.#clock.monotonicMs();
    this.#show('streaming');
    this.#log.info('camera is streaming');
  }

  onQuirks(attempt: number, names: readonly QuirkName[]): void {
    if (attempt !== this.#attempt) return;
    this.#quirks = names;
    this.#onChange();
  }

  onEnded(attempt: number, fault: SessionFault): void {
    if (attempt !== this.#attempt) return;
    const isRefused = refusals.has(fault.code);
    const delayMs = this.#backoff.nextDelayMs(this.#clock.monotonicMs(), isRefused);
    this.#streamingSinceMs = null;
    this.#quirks = [];
    this.#hasAnswered = false;
    this.#isUnauthorized = fault.code === 'unauthorized';
    this.#show(isRefused ? 'error' : 'reconnecting', fault.message);
    this.#log.warn('camera is away', {
      code: fault.code,
      reason: fault.message,
      retry_in_ms: Math.round(delayMs),
    });
    this.#enter({ name: 'waiting', timer: this.#clock.after(delayMs, () => this.#reconnect()) });
  }

  /** The worker thread died under the camera; it will be given a slot in a fresh one. */
  onWorkerLost(): void {
    this.#slot = null;
    if (this.#phase.name === 'handshake' || this.#phase.name === 'streaming') {
      this.onEnded(this.#attempt, { code: 'worker_lost', message: 'the ingest worker stopped unexpectedly' });
    }
  }

  #textOf({ waitsFor, sinceMs }: Waiting): string {
    const seconds = Math.max(0, Math.floor((this.#clock.monotonicMs() - sinceMs) / 1000));
    return `waiting for ${waitsFor} (${seconds} s)`;
  }

  #show(state: CameraState, lastError = ''): void {
    this.#waiting = null;
    this.#state = state;
    this.#lastError = lastError;
    this.#onChange();
  }

  #interrupt(): void {
    this.#leavePhase();
    this.#attempt++;
    this.#slot?.disconnect();
    this.#streamingSinceMs = null;
    this.#quirks = [];
    this.#hasAnswered = false;
    this.#isUnauthorized = false;
  }

  #begin(): void {
    this.#backoff.reset();
    this.#show('connecting');
    this.#connect();
  }

  #reconnect(): void {
    this.#reconnects++;
    this.#connect();
  }

  #connect(): void {
    this.#leavePhase();
    const attempt = ++this.#attempt;
    const held = this.#placement.heldOff(this.id);
    if (held !== null) {
      this.#holdOff(held);
      return;
    }
    // `request` may call back at once, before it returns the ticket: the phase is entered first, then filled.
    let ticket: Ticket | null = null;
    this.#phase = { name: 'handshake', ticket: { leave: () => ticket?.leave() } };
    ticket = this.#gate.request(this.#settings.host, () => {
      this.#slot = this.#placement.slotFor(this.id);
      this.#slot.connect(attempt, this.#settings.source);
    });
  }

  #holdOff({ delayMs, reason }: HeldOff): void {
    if (this.#lastError !== reason) this.#log.error('camera is held off', { reason });
    this.#show('error', reason);
    this.#enter({ name: 'waiting', timer: this.#clock.after(delayMs, () => this.#connect()) });
  }

  #enter(phase: Phase): void {
    this.#leavePhase();
    this.#phase = phase;
  }

  #leavePhase(): void {
    const phase = this.#phase;
    if (phase.name === 'handshake') phase.ticket.leave();
    else if (phase.name === 'streaming') phase.stable.cancel();
    else if (phase.name === 'waiting') phase.timer.cancel();
    this.#phase = { name: 'idle' };
  }
}
