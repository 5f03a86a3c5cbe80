import type { MonotonicMs } from '../base/clock.js';
import type { StreamInfo } from '../codec/track.js';
import { type RingCounters, readCounters } from '../ring/counters.js';
import { headerWord, RingMemory } from '../ring/layout.js';
import { loadStreamInfo } from '../ring/stream-info.js';

/** Rates are those of the last 5 s; at one sample a second that is 6 of them. */
const WINDOW_MS = 5_000;

type Sample = { readonly atMs: MonotonicMs; readonly frames: number; readonly bytes: number };

/** Reads one camera's ring once a second: rates, stream facts, received bytes. Asks no worker. */
export class StreamGauge {
  fps = 0;
  bitrateKbps = 0;
  info: StreamInfo | null = null;
  counters: RingCounters | null = null;
  #samples: Sample[] = [];
  #receivedBytes = 0;
  #ringId: number | null = null;
  #infoVersion = 0;

  /** Takes a sample; answers how many bytes came from the camera since the last one. */
  sample(ring: SharedArrayBuffer | null, isStreaming: boolean, nowMs: MonotonicMs): number {
    if (ring === null) {
      this.#reset();
      return 0;
    }
    const counters = readCounters(ring);
    const memory = new RingMemory(ring);
    const ringId = memory.header[headerWord.ringId]!;
    this.counters = counters;
    this.#readInfo(memory, ringId);
    this.#measure(counters, isStreaming, nowMs);
    // A ring that was made anew counts from 0; one that replaces a smaller one goes on, and keeps its id.
    const received = counters.receivedBytes - (ringId === this.#ringId ? this.#receivedBytes : 0);
    this.#ringId = ringId;
    this.#receivedBytes = counters.receivedBytes;
    return received;
  }

  #readInfo(memory: RingMemory, ringId: number): void {
    const version = Atomics.load(memory.header, headerWord.streamVersion);
    if (version === this.#infoVersion && ringId === this.#ringId) return;
    this.info = loadStreamInfo(memory, version) ?? this.info;
    this.#infoVersion = version;
  }

  #measure(counters: RingCounters, isStreaming: boolean, nowMs: MonotonicMs): void {
    if (!isStreaming) {
      // Rates of a stream that stopped, or that of before an outage, would be made up.
      this.#samples = [];
      this.fps = 0;
      this.bitrateKbps = 0;
      return;
    }
    const bytes = counters.videoBytes + counters.audioBytes;
    this.#samples.push({ atMs: nowMs, frames: counters.videoFrames, bytes });
    while (this.#samples.length > 2 && nowMs - this.#samples[1]!.atMs >= WINDOW_MS) this.#samples.shift();
    const first = this.#samples[0]!;
    const elapsedSec = (nowMs - first.atMs) / 1000;
    if (elapsedSec <= 0) return;
    this.fps = Math.round(((counters.videoFrames - first.frames) / elapsedSec) * 10) / 10;
    this.bitrateKbps = Math.round(((bytes - first.bytes) * 8) / 1000 / elapsedSec);
  }

  #reset(): void {
    if (this.#ringId === null) return;
    this.#ringId = null;
    this.#samples = [];
    this.#receivedBytes = 0;
    this.fps = 0;
    this.bitrateKbps = 0;
    this.info = null;
    this.counters = null;
  }
}
