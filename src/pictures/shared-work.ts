type Flight<Result> = { readonly done: Promise<Result>; readonly over: AbortController; askers: number };

/** Does what several ask for at the same time once for all of them; it is called off when the last of them has left. */
export class SharedWork<Result> {
  readonly #flights = new Map<string, Flight<Result>>();

  /** What is being done. */
  get count(): number {
    return this.#flights.size;
  }

  /** Begins, or joins those who have begun. Whoever leaves gets the signal's reason. */
  run(key: string, signal: AbortSignal, begin: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const flight = this.#flights.get(key) ?? this.#begin(key, begin);
    flight.askers += 1;
    return new Promise((resolve, reject) => {
      const onLeave = (): void => {
        reject(signal.reason);
        flight.askers -= 1;
        if (flight.askers > 0) return;
        // Whoever comes now begins anew: this one ends in an error.
        this.#end(key, flight);
        flight.over.abort(signal.reason);
      };
      signal.addEventListener('abort', onLeave);
      const settled = (): void => signal.removeEventListener('abort', onLeave);
      flight.done.then(resolve, reject).finally(settled);
    });
  }

  #begin(key: string, begin: (signal: AbortSignal) => Promise<Result>): Flight<Result> {
    const over = new AbortController();
    const flight: Flight<Result> = { done: begin(over.signal), over, askers: 0 };
    this.#flights.set(key, flight);
    const ended = (): void => this.#end(key, flight);
    flight.done.then(ended, ended);
    return flight;
  }

  #end(key: string, flight: Flight<Result>): void {
    if (this.#flights.get(key) === flight) this.#flights.delete(key);
  }
}
