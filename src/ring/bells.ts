import { BellListener } from './doorbell.js';

type Watched = { readonly listener: BellListener; readonly callbacks: Set<() => void> };

/** One listener for each bell, however many cameras behind it are watched: a ringing wakes this thread once. */
export class Bells {
  readonly #watched = new Map<SharedArrayBuffer, Watched>();

  /** Calls back after each ringing, and once soon. Returns what ends that. */
  listen(bell: SharedArrayBuffer, callback: () => void): () => void {
    const watched = this.#watched.get(bell) ?? this.#watch(bell);
    watched.callbacks.add(callback);
    return () => {
      if (!watched.callbacks.delete(callback) || watched.callbacks.size > 0) return;
      this.#watched.delete(bell);
      watched.listener.stop();
    };
  }

  #watch(bell: SharedArrayBuffer): Watched {
    const callbacks = new Set<() => void>();
    const listener = new BellListener(bell, () => {
      for (const callback of callbacks) callback();
    });
    const watched = { listener, callbacks };
    this.#watched.set(bell, watched);
    listener.start();
    return watched;
  }
}
