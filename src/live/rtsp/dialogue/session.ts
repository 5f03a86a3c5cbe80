import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { MonotonicMs } from '../../../base/clock.js';
import type { Pair } from '../../../rtsp/transport-header.js';
import type { Admission } from '../admission.js';
import type { Track } from '../packets/packet-batch.js';
import { TcpWay } from '../send/tcp-way.js';
import type { UdpPacer } from '../send/udp-pacer.js';
import type { UdpPair } from '../send/udp-ports.js';
import { UdpWay } from '../send/udp-way.js';
import { Viewer } from '../send/viewer.js';
import type { Start } from '../watched-stream.js';

/** What `Session` says, and after how long without a sign of life a session over UDP is over. */
export const SESSION_TIMEOUT_SEC = 60;
/** So much more for what is on its way. */
const GRACE_MS = 10_000;

/** Where one track goes. */
export type TrackWay =
  | { readonly kind: 'tcp'; readonly channels: Pair; readonly socket: Socket }
  | { readonly kind: 'udp'; readonly ports: Pair; readonly address: string; readonly udp: UdpPair };

export type SessionDeps = {
  readonly pacer: UdpPacer;
  /** It is over; the reason is null where the client said so. */
  readonly onEnd: (session: Session, reason: string | null) => void;
};

/** What one client set up, and whether it plays (RFC 2326 appendix A.2). */
export class Session {
  readonly id = randomBytes(16).toString('hex');
  readonly admission: Admission;
  readonly #deps: SessionDeps;
  readonly #letGo: () => void;
  readonly #ways = new Map<Track, TrackWay>();
  #viewer: Viewer | null = null;
  #heardMs: MonotonicMs;
  #isOver = false;

  constructor(admission: Admission, nowMs: MonotonicMs, deps: SessionDeps) {
    this.admission = admission;
    this.#deps = deps;
    this.#heardMs = nowMs;
    this.#letGo = admission.hold((reason) => this.end(reason));
  }

  get isPlaying(): boolean {
    return this.#viewer !== null;
  }

  /** How its tracks travel, null before the first. */
  get kind(): TrackWay['kind'] | null {
    const [first] = this.#ways.values();
    return first?.kind ?? null;
  }

  get tracks(): readonly Track[] {
    return [...this.#ways.keys()];
  }

  wayOf(track: Track): TrackWay | undefined {
    return this.#ways.get(track);
  }

  setUp(track: Track, way: TrackWay): void {
    this.#ways.set(track, way);
  }

  /** A sign of life. */
  heard(nowMs: MonotonicMs): void {
    this.#heardMs = nowMs;
  }

  /** Only UDP needs signs of life: TCP is its own. */
  isSilent(nowMs: MonotonicMs): boolean {
    const isHeld = this.kind === 'tcp' && this.isPlaying;
    return !isHeld && nowMs - this.#heardMs > SESSION_TIMEOUT_SEC * 1000 + GRACE_MS;
  }

  /** Begins to send; where it plays already nothing changes. */
  play(start: Start | null): void {
    if (this.#viewer !== null || this.#isOver) return;
    const viewer = new Viewer(this.#makeWay(), (reason) => this.end(reason));
    this.#viewer = viewer;
    this.admission.watched.play(viewer, start);
  }

  pause(): void {
    this.#halt(false);
  }

  /** Ends it, once. `reason` is null where the client said so, who then needs no goodbye. */
  end(reason: string | null): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#halt(reason !== null);
    this.#letGo();
    this.#deps.onEnd(this, reason);
  }

  #halt(isOver: boolean): void {
    if (this.#viewer !== null) this.admission.watched.halt(this.#viewer, isOver);
    this.#viewer = null;
  }

  #makeWay(): TcpWay | UdpWay {
    const pairs: Partial<Record<Track, Pair>> = {};
    for (const [track, way] of this.#ways) pairs[track] = way.kind === 'tcp' ? way.channels : way.ports;
    const [first] = this.#ways.values();
    if (first === undefined) throw new Error('a session without tracks was to play');
    if (first.kind === 'tcp') return new TcpWay(first.socket, pairs);
    return new UdpWay(first.address, pairs, first.udp, this.#deps.pacer);
  }
}
