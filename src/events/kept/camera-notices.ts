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
/** Of one camera and kind at the same time, and in a minute; and so many that wait until there is room for them. */
const MAX_OPEN = 32;
const MAX_A_MINUTE = 30;
const MAX_OWED = 32;
const SEC_A_MINUTE = 60;
/** What was told so long ago and never again is over: cameras lose an "off", or begin anew without telling what is so. */
const MAX_UNTOLD_MS = 4 * 3_600_000;

type Open = {
  /** Null: no event was made of it yet, since there were too many. */
  id: number | null;
  readonly notice: CameraNotice;
  isOn: boolean;
  /** When it was so last. */
  untilWallMs: number;
  /** When the camera told of it last, or fell silent. */
  toldMs: MonotonicMs;
};

/** By key. */
type OfKind = { readonly open: Map<string, Open>; readonly allowance: Allowance };

/** Apart from each other: rules that are called otherwise each time are to hide no motion. */
type OfCamera = { readonly motion: OfKind; readonly rule: OfKind; isSilent: boolean };

const newOfKind = (): OfKind => ({
  open: new Map(),
  allowance: new Allowance(MAX_A_MINUTE / SEC_A_MINUTE, MAX_A_MINUTE),
});

const countOf = ({ open }: OfKind, isOwed: boolean): number =>
  [...open.values()].filter(({ id }) => (id === null) === isOwed).length;

/** Makes events of what cameras notice: one for as long as it is so, however often it comes and goes meanwhile. */
export class CameraNotices {
  readonly #deps: CameraNoticesDeps;
  readonly #cameras = new Map<string, OfCamera>();
  #isStopped = false;

  constructor(deps: CameraNoticesDeps) {
    this.#deps = deps;
    // Of a service that did not end in order: it was so until then, as far as anybody knows.
    const { aliveMs } = deps.log;
    for (const { id, type, fromMs } of deps.log.open())
      if (type === 'motion' || type === 'rule') deps.log.change(id, { toMs: Math.max(fromMs, aliveMs) });
  }

  onNotice(cameraId: string, notice: CameraNotice): void {
    if (this.#isStopped) return;
    const { state, key, kind, wallMs } = notice;
    const camera = this.#cameras.get(cameraId) ?? {
      motion: newOfKind(),
      rule: newOfKind(),
      isSilent: false,
    };
    camera.isSilent = false;
    this.#cameras.set(cameraId, camera);
    const known =
      camera[kind].open.get(key) ?? (state === 'off' ? null : this.#open(cameraId, camera[kind], notice));
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
    for (const open of [...camera.motion.open.values(), ...camera.rule.open.values()]) {
      if (!open.isOn) continue;
      open.isOn = false;
      open.untilWallMs = Math.max(open.untilWallMs, clock.wallMs());
      open.toldMs = clock.monotonicMs();
    }
  }

  /** Ends what is over, and begins what there was no room for: to be called about once a second. */
  tick(): void {
    for (const [cameraId, { motion, rule, isSilent }] of this.#cameras) {
      this.#settle(cameraId, motion);
      this.#settle(cameraId, rule);
      if (isSilent && motion.open.size + rule.open.size === 0) this.#cameras.delete(cameraId);
    }
  }

  /** Ends all of it. What cameras notice while they are stopped, too, they tell the next service: nobody is told of it by this one. */
  stop(): void {
    this.#isStopped = true;
    for (const [cameraId, { motion, rule }] of this.#cameras)
      for (const open of [...motion.open.values(), ...rule.open.values()]) {
        open.id ??= this.#add(cameraId, open.notice);
        this.#end(open.id, open);
      }
    this.#cameras.clear();
  }

  #settle(cameraId: string, ofKind: OfKind): void {
    const nowMs = this.#deps.clock.monotonicMs();
    for (const [key, open] of ofKind.open) {
      const { isOn, toldMs, id } = open;
      if (id === null && !this.#begin(cameraId, ofKind, open)) continue;
      if (open.id === null || nowMs - toldMs < (isOn ? MAX_UNTOLD_MS : HOLD_MS)) continue;
      ofKind.open.delete(key);
      this.#end(open.id, open);
    }
  }

  /** As far as anybody knows what is on was so until now. */
  #end(id: number, { isOn, untilWallMs }: Open): void {
    const { clock, log } = this.#deps;
    log.change(id, { toMs: isOn ? clock.wallMs() : untilWallMs });
  }

  /** What has no duration is nothing where there is no room; what has may be told once alone, and waits. */
  #open(cameraId: string, ofKind: OfKind, notice: CameraNotice): Open | null {
    const { wallMs, key, state } = notice;
    const toldMs = this.#deps.clock.monotonicMs();
    const open: Open = { id: null, notice, isOn: false, untilWallMs: wallMs, toldMs };
    const isKept =
      this.#begin(cameraId, ofKind, open) || (state === 'on' && countOf(ofKind, true) < MAX_OWED);
    if (!isKept) return null;
    ofKind.open.set(key, open);
    return open;
  }

  /** Makes an event of it, if there is room. */
  #begin(cameraId: string, ofKind: OfKind, open: Open): boolean {
    const nowMs = this.#deps.clock.monotonicMs();
    if (countOf(ofKind, false) >= MAX_OPEN || !ofKind.allowance.take(1, nowMs)) return false;
    open.id = this.#add(cameraId, open.notice);
    return true;
  }

  #add(cameraId: string, { kind, label, topic, wallMs }: CameraNotice): number {
    return this.#deps.log.add({ cameraId, type: kind, label, detail: topic, fromMs: wallMs }).id;
  }
}
