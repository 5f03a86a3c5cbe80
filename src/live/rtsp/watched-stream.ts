import type { CameraStream, StartPoint } from './packets/camera-stream.js';
import type { Viewer } from './send/viewer.js';

type WatchedStreamEvents = {
  /** A viewer began; it may be catching up. */
  readonly onBegun: () => void;
  readonly onLeft: () => void;
  /** Nobody holds it any more. */
  readonly onUnheld: () => void;
};

export type Start = { readonly batch: number; readonly numbers: StartPoint };

/** A camera's stream as long as somebody watches it, or is about to. */
export class WatchedStream {
  readonly stream: CameraStream;
  holders = 0;
  unfollow: () => void = () => {};
  readonly #events: WatchedStreamEvents;
  readonly #onEnd = new Set<(reason: string) => void>();
  #endedBy: string | null = null;

  constructor(stream: CameraStream, events: WatchedStreamEvents) {
    this.stream = stream;
    this.#events = events;
  }

  /** Why it is over, or null. */
  get endedBy(): string | null {
    return this.#endedBy;
  }

  /** Says who is told of its end. Returns what takes that back. */
  onEnd(listener: (reason: string) => void): () => void {
    this.#onEnd.add(listener);
    return () => void this.#onEnd.delete(listener);
  }

  play(viewer: Viewer, start: Start | null): void {
    this.stream.add(viewer, start);
    this.#events.onBegun();
  }

  halt(viewer: Viewer, isOver: boolean): void {
    this.stream.remove(viewer, isOver);
    this.#events.onLeft();
  }

  leave(): void {
    this.holders -= 1;
    if (this.holders === 0) this.#events.onUnheld();
  }

  /** It is over: whoever holds it is told, and leaves it. */
  end(reason: string): void {
    this.#endedBy ??= reason;
    for (const listener of [...this.#onEnd]) listener(reason);
  }
}
