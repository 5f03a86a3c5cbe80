import type { MonotonicMs } from '../base/clock.js';
import type { StreamInfo } from '../codec/track.js';
import { type RingCounters, readCounters } from '../ring/counters.js';
import { ringIdOf, streamInfoOf, streamVersionOf } from '../ring/glance.js';

/** Rates are those of the last 5 s; at one sample a second that is 6 of them. */
const WINDOW_MS = 5_000;
/** How often a ring is looked at after its camera has left it: its last session's TEARDOWN takes a second at most. */
const LAST_LOOKS = 2;

type Sample = { readonly atMs: MonotonicMs; readonly frames: number; readonly bytes: number };

/** Reads one camera's ring once a second: rates, stream facts, received bytes. Asks no worker. */
export class StreamGauge {
  fps = 0;
  bitrateKbps = 0;
  info: StreamInfo | null = null;
  counters: RingCounters | null = null;
  #samples: Sample[] = [];
  /** The ring that was sampled last, and what had come to it by then. */
  #ring: SharedArrayBuffer | null = null;
  #receivedBytes = 0;
  #looksLeft = LAST_LOOKS;
  #ringId: number | null = null;
  #infoVersion = 0;

  /** Takes a sample; answers how many bytes came from the camera since the last one. */
  sample(ring: SharedArrayBuffer | null, isStreaming: boolean, nowMs: MonotonicMs): number {
    if (ring === null) {
      this.#reset();
      return this.#lastLook();
    }
    const counters = readCounters(ring);
    const ringId = ringIdOf(ring);
    this.counters = counters;
    this.#readInfo(ring, ringId);
    this.#measure(counters, isStreaming, nowMs);
    // A ring that was made anew counts from 0; one that replaces a smaller one goes on, and keeps its id.
    const before = ringId === this.#ringId ? -this.#receivedBytes : this.#unsampledBytes();
    this.#ringId = ringId;
    this.#ring = ring;
    this.#looksLeft = LAST_LOOKS;
    this.#receivedBytes = counters.receivedBytes;
    return counters.receivedBytes + before;
  }

  /** What came since the last sample to a ring that the camera has left. */
  #lastLook(): number {
    const received = this.#unsampledBytes();
    this.#receivedBytes += received;
    this.#looksLeft -= 1;
    if (this.#looksLeft <= 0) this.#ring = null;
    return received;
  }

  #unsampledBytes(): number {
    return this.#ring === null ? 0 : readCounters(this.#ring).receivedBytes - this.#receivedBytes;
  }

  #readInfo(ring: SharedArrayBuffer, ringId: number): void {
    const version = streamVersionOf(ring);
    if (version === this.#infoVersion && ringId === this.#ringId && this.info !== null) return;
    this.info = streamInfoOf(ring, version) ?? this.info;
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
    // Of 10,000 cameras nearly all are read by other boxes, and each has two gauges.
    if (this.#samples.length > 0) this.#samples = [];
    this.fps = 0;
    this.bitrateKbps = 0;
    this.info = null;
    this.counters = null;
  }
}
