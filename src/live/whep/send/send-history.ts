import type { PacketStore } from '../packets/packet-store.js';

/**
 * Frames that are sent once more get new times, all within less than a frame's time at 60 frames a second: those of
 * the frames that follow are later.
 */
const REPEAT_TICKS = 1_000;
const MAX_STEP_TICKS = 90;
/** Runs that are remembered: a lost packet is asked for again within a second or two. */
const MAX_RUNS = 8;

/** Packets that followed each other in the store, and how their numbers and times were told. */
type Run = {
  readonly firstIndex: number;
  /** Index on the wire minus number in the store. */
  readonly shift: number;
  readonly firstFrame: number;
  /** From this frame on times are the camera's own. */
  readonly liveFrame: number;
  readonly firstTicks: number;
  readonly stepTicks: number;
};

/**
 * What one viewer was sent: packets of the store in runs, each beginning with a keyframe, under indices that have no
 * gaps. A run begins in the past, at the newest keyframe, and its frames keep their own times: Chromium plays them as
 * fast as it can, and is at the live edge at once. (Told times a millisecond apart it gave up and asked for
 * keyframes, again and again.) Only what a viewer was told before can't be told again with the same times.
 */
export class SendHistory {
  #runs: Run[] = [];
  /** The index that the next packet gets. */
  nextIndex: number;

  constructor(firstIndex: number) {
    this.nextIndex = firstIndex;
  }

  /** Begins a run at this packet; `lastTicks` is the newest time that the viewer was told, or null. */
  begin(store: PacketStore, packet: number, lastTicks: number | null): void {
    const firstFrame = store.frameOf(packet);
    const ownTicks = store.ticksOf(packet);
    const isRepeat = lastTicks !== null && lastTicks >= ownTicks;
    const frames = store.frame - firstFrame + 1;
    const stepTicks = Math.min(MAX_STEP_TICKS, Math.max(1, Math.floor(REPEAT_TICKS / frames)));
    const liveFrame = isRepeat ? store.frame + 1 : firstFrame;
    const firstTicks = isRepeat ? lastTicks + 1 : ownTicks;
    const shift = this.nextIndex - packet;
    this.#runs.push({ firstIndex: this.nextIndex, shift, firstFrame, liveFrame, firstTicks, stepTicks });
    if (this.#runs.length > MAX_RUNS) this.#runs.shift();
  }

  /** The time under which a packet of the newest run goes out. */
  ticksOf(store: PacketStore, packet: number): number {
    return ticksIn(this.#runs.at(-1)!, store, packet);
  }

  /** The index of a packet that was sent not long ago, by the 16 bits of it that a viewer knows; -1: it wasn't. */
  indexOf(sequence: number): number {
    const last = this.nextIndex - 1;
    const index = last - ((last - sequence) & 0xffff);
    const oldest = this.#runs[0];
    return oldest !== undefined && index >= oldest.firstIndex ? index : -1;
  }

  /** The packet that was sent under an index, and its time; null if the store has it no longer. */
  find(store: PacketStore, index: number): { readonly packet: number; readonly ticks: number } | null {
    for (let at = this.#runs.length - 1; at >= 0; at -= 1) {
      const run = this.#runs[at]!;
      if (index < run.firstIndex) continue;
      const packet = index - run.shift;
      return packet < store.first ? null : { packet, ticks: ticksIn(run, store, packet) };
    }
    return null;
  }
}

const ticksIn = (run: Run, store: PacketStore, packet: number): number => {
  const frame = store.frameOf(packet);
  if (frame >= run.liveFrame) return store.ticksOf(packet);
  return run.firstTicks + (frame - run.firstFrame) * run.stepTicks;
};
