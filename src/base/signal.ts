/** Lets what is built early tell what is built later, without knowing it. */
export class Signal<Args extends readonly unknown[] = []> {
  readonly #listeners: ((...args: Args) => void)[] = [];

  on(listener: (...args: Args) => void): void {
    this.#listeners.push(listener);
  }

  readonly emit = (...args: Args): void => {
    for (const listener of this.#listeners) listener(...args);
  };
}
