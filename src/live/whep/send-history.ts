import type { PacketStore } from './packet-store.js';

/** Ticks between frames that are sent in a row to catch up. */
const CATCH_UP_TICKS = 90;
/** Less than a frame's time at 60 frames a second: frames that are sent once more are squeezed into it. */
const REPEAT_TICKS = 1_000;
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
 * gaps. A run begins in the past, at the newest keyframe. Its frames up to the present get times a millisecond apart
 * that end at the present: told their own times, a player would show them at leisure and stay behind for good.
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
    const behind = store.frame - firstFrame;
    const isRepeat = lastTicks !== null && lastTicks >= store.frameTicks;
    const room = isRepeat ? Math.floor(REPEAT_TICKS / (behind + 1)) : CATCH_UP_TICKS;
    const stepTicks = Math.max(1, Math.min(CATCH_UP_TICKS, room));
    const liveFrame = store.frame + 1;
    const firstTicks = Math.max(
      store.frameTicks - behind * stepTicks,
      (lastTicks ?? Number.NEGATIVE_INFINITY) + 1,
    );
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
