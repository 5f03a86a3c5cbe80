import { Allowance } from '../../base/allowance.js';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import type { EventLog } from './event-log.js';

/** Something that a camera itself noticed: motion, or a rule that was set up in it. */
export type CameraNotice = {
  readonly kind: 'motion' | 'rule';
  /** Tells it apart from all else that this camera notices. */
  readonly key: string;
  readonly label: string;
  readonly topic: string;
  /** `once`: it has no duration. */
  readonly state: 'on' | 'off' | 'once';
  readonly wallMs: number;
};

export type CameraNoticesDeps = {
  readonly clock: Clock;
  readonly log: Pick<EventLog, 'add' | 'change' | 'open' | 'aliveMs'>;
};

/** What is there again sooner was never gone. */
const HOLD_MS = 10_000;
/** Of one camera at the same time, and in a minute. */
const MAX_OPEN = 32;
const MAX_A_MINUTE = 30;
const SEC_A_MINUTE = 60;
/** What was told so long ago and never again is over: cameras lose an "off", or begin anew without telling what is so. */
const MAX_UNTOLD_MS = 4 * 3_600_000;

type Open = {
  readonly id: number;
  isOn: boolean;
  /** When it was so last. */
  untilWallMs: number;
  /** When the camera told of it last, or fell silent. */
  toldMs: MonotonicMs;
};

type OfCamera = { readonly open: Map<string, Open>; readonly allowance: Allowance; isSilent: boolean };

/** Makes events of what cameras notice: one for as long as it is so, however often it comes and goes meanwhile. */
export class CameraNotices {
  readonly #deps: CameraNoticesDeps;
  readonly #cameras = new Map<string, OfCamera>();

  constructor(deps: CameraNoticesDeps) {
    this.#deps = deps;
    // Of a service that did not end in order: it was so until then, as far as anybody knows.
    const { aliveMs } = deps.log;
    for (const { id, type, fromMs } of deps.log.open())
      if (type === 'motion' || type === 'rule') deps.log.change(id, { toMs: Math.max(fromMs, aliveMs) });
  }

  onNotice(cameraId: string, notice: CameraNotice): void {
    const { state, key, wallMs } = notice;
    const camera = this.#cameras.get(cameraId) ?? {
      open: new Map(),
      allowance: new Allowance(MAX_A_MINUTE / SEC_A_MINUTE, MAX_A_MINUTE),
      isSilent: false,
    };
    camera.isSilent = false;
    this.#cameras.set(cameraId, camera);
    const known = camera.open.get(key) ?? (state === 'off' ? null : this.#begin(cameraId, camera, notice));
    if (known === null) return;
    if (state !== 'off' || known.isOn) known.untilWallMs = Math.max(known.untilWallMs, wallMs);
    if (state === 'on') known.isOn = true;
    else if (state === 'off') known.isOn = false;
    known.toldMs = this.#deps.clock.monotonicMs();
  }

  /** The camera tells nothing any more: what it noticed may be over, and it says so when it is back. */
  onSilent(cameraId: string): void {
    const { clock } = this.#deps;
    const camera = this.#cameras.get(cameraId);
    if (camera === undefined) return;
    camera.isSilent = true;
    for (const open of camera.open.values()) {
      if (!open.isOn) continue;
      open.isOn = false;
      open.untilWallMs = Math.max(open.untilWallMs, clock.wallMs());
      open.toldMs = clock.monotonicMs();
    }
  }

  /** Ends what is over: to be called about once a second. */
  tick(): void {
    const { clock } = this.#deps;
    const nowMs = clock.monotonicMs();
    for (const [cameraId, { open, isSilent }] of this.#cameras) {
      for (const [key, { isOn, toldMs, id, untilWallMs }] of open) {
        if (nowMs - toldMs < (isOn ? MAX_UNTOLD_MS : HOLD_MS)) continue;
        open.delete(key);
        // As far as anybody knows it was so until now.
        this.#deps.log.change(id, { toMs: isOn ? clock.wallMs() : untilWallMs });
      }
      if (isSilent && open.size === 0) this.#cameras.delete(cameraId);
    }
  }

  /** Ends all of it. */
  stop(): void {
    const { clock, log } = this.#deps;
    for (const { open } of this.#cameras.values())
      for (const { id, isOn, untilWallMs } of open.values())
        log.change(id, { toMs: isOn ? clock.wallMs() : untilWallMs });
    this.#cameras.clear();
  }

  #begin(cameraId: string, { open, allowance }: OfCamera, notice: CameraNotice): Open | null {
    const { clock, log } = this.#deps;
    const nowMs = clock.monotonicMs();
    if (open.size >= MAX_OPEN || !allowance.take(1, nowMs)) return null;
    const { kind, label, topic, key, wallMs } = notice;
    const { id } = log.add({ cameraId, type: kind, label, detail: topic, fromMs: wallMs });
    const begun = { id, isOn: false, untilWallMs: wallMs, toldMs: nowMs };
    open.set(key, begun);
    return begun;
  }
}
