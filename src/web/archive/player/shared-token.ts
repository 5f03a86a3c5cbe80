/** One token for all requests of a worker, which its page brings: it is asked for once, however many want it. */
export class SharedToken {
  readonly #ask: (isRefused: boolean) => void;
  #token: Promise<string> | null = null;
  #give: ((token: string) => void) | null = null;

  constructor(ask: (isRefused: boolean) => void) {
    this.#ask = ask;
  }

  readonly source = (isRefused: boolean): Promise<string> => {
    const isOnItsWay = this.#give !== null;
    if (this.#token === null || (isRefused && !isOnItsWay)) {
      this.#token = new Promise((resolve) => {
        this.#give = resolve;
      });
      this.#ask(isRefused);
    }
    return this.#token;
  };

  give(token: string): void {
    this.#give?.(token);
    this.#give = null;
  }
}
