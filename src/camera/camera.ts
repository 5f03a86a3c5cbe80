import type { Clock, MonotonicMs, Timer } from '../base/clock.js';
import type { Logger } from '../base/log.js';
import { Backoff } from './backoff.js';
import type { CameraSource, SessionFault } from './messages.js';
import type { StartGate, Ticket } from './start-gate.js';

export type CameraState = 'connecting' | 'streaming' | 'reconnecting' | 'error' | 'disabled';

/** What the supervisor needs to know of a camera; everything else about it never touches the stream. */
export type CameraSettings = {
  readonly id: string;
  readonly source: CameraSource;
  /** For the limit of handshakes per host. */
  readonly host: string;
  readonly disabled: boolean;
};

/** The camera's place in a worker thread, as its supervisor sees it. */
export interface CameraSlot {
  connect(attempt: number, source: CameraSource): void;
  disconnect(): void;
}

/** Where a camera gets its slot from: asked before each attempt, so that a camera may move while it is away. */
export interface CameraPlacement {
  slotFor(cameraId: string): CameraSlot;
  /** The camera needs no worker and no ring any more. */
  vacate(cameraId: string): void;
}

export type CameraStatus = {
  readonly state: CameraState;
  /** "" when fine. */
  readonly lastError: string;
  /** Since when frames flow, or null. */
  readonly streamingSinceMs: MonotonicMs | null;
  readonly reconnects: number;
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
  readonly #log: Logger;
  readonly #gate: StartGate;
  readonly #placement: CameraPlacement;
  readonly #backoff: Backoff;
  #settings: CameraSettings;
  #slot: CameraSlot | null = null;
  #phase: Phase = { name: 'idle' };
  #state: CameraState = 'disabled';
  #lastError = '';
  #streamingSinceMs: MonotonicMs | null = null;
  #attempt = 0;
  #reconnects = 0;

  constructor(
    settings: CameraSettings,
    deps: { clock: Clock; log: Logger; gate: StartGate; placement: CameraPlacement; random?: () => number },
  ) {
    this.id = settings.id;
    this.#settings = settings;
    this.#clock = deps.clock;
    this.#log = deps.log.child({ camera_id: settings.id });
    this.#gate = deps.gate;
    this.#placement = deps.placement;
    this.#backoff = new Backoff(deps.random);
  }

  get settings(): CameraSettings {
    return this.#settings;
  }

  status(): CameraStatus {
    return {
      state: this.#state,
      lastError: this.#lastError,
      streamingSinceMs: this.#streamingSinceMs,
      reconnects: this.#reconnects,
    };
  }

  start(): void {
    if (!this.#settings.disabled) this.#begin();
  }

  /** Takes new settings; the stream is interrupted only if its source or `disabled` changed. */
  update(settings: CameraSettings): void {
    const before = this.#settings;
    this.#settings = settings;
    const isSameSource =
      before.source.url === settings.source.url && before.source.transport === settings.source.transport;
    if (isSameSource && before.disabled === settings.disabled) return;
    if (settings.disabled) {
      this.stop();
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
    this.#state = 'disabled';
  }

  onPlaying(attempt: number): void {
    if (attempt !== this.#attempt || this.#phase.name !== 'handshake') return;
    this.#phase.ticket.leave();
  }

  onStreaming(attempt: number): void {
    if (attempt !== this.#attempt) return;
    this.#enter({
      name: 'streaming',
      stable: this.#clock.after(STABLE_AFTER_MS, () => this.#backoff.reset()),
    });
    this.#state = 'streaming';
    this.#lastError = '';
    this.#streamingSinceMs = this.#clock.monotonicMs();
    this.#log.info('camera is streaming');
  }

  onEnded(attempt: number, fault: SessionFault): void {
    if (attempt !== this.#attempt) return;
    const isRefused = refusals.has(fault.code);
    const delayMs = this.#backoff.nextDelayMs(this.#clock.monotonicMs(), isRefused);
    this.#state = isRefused ? 'error' : 'reconnecting';
    this.#lastError = fault.message;
    this.#streamingSinceMs = null;
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

  #interrupt(): void {
    this.#leavePhase();
    this.#attempt++;
    this.#slot?.disconnect();
    this.#streamingSinceMs = null;
    this.#lastError = '';
  }

  #begin(): void {
    this.#backoff.reset();
    this.#state = 'connecting';
    this.#connect();
  }

  #reconnect(): void {
    this.#reconnects++;
    this.#connect();
  }

  #connect(): void {
    this.#leavePhase();
    const attempt = ++this.#attempt;
    // `request` may call back at once, before it returns the ticket: the phase is entered first, then filled.
    let ticket: Ticket | null = null;
    this.#phase = { name: 'handshake', ticket: { leave: () => ticket?.leave() } };
    ticket = this.#gate.request(this.#settings.host, () => {
      this.#slot = this.#placement.slotFor(this.id);
      this.#slot.connect(attempt, this.#settings.source);
    });
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
