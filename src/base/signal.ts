/** Lets what is built early tell what is built later, without knowing it. */
export class Signal<Args extends readonly unknown[] = []> {
  readonly #listeners: ((...args: Args) => void)[] = [];

  on(listener: (...args: Args) => void): void {
    this.#listeners.push(listener);
  }

  /** Tells all of them, and throws what the first threw that failed. */
  readonly emit = (...args: Args): void => {
    const faults: unknown[] = [];
    for (const listener of this.#listeners)
      try {
        listener(...args);
      } catch (fault) {
        faults.push(fault);
      }
    if (faults.length > 0) throw faults[0];
  };
}
