/** How fast, from -1 to 1. */
export type Speed = { readonly pan?: number; readonly tilt?: number; readonly zoom?: number };

export type MoveHoldDeps = {
  /** Says it to the service; what fails is told there. */
  readonly send: (speed: Speed) => Promise<void>;
  readonly every: (periodMs: number, callback: () => void) => () => void;
};

/** The service stops a camera 600 ms after it was said the last time. */
const SAY_EVERY_MS = 300;
const STILL: Speed = { pan: 0, tilt: 0, zoom: 0 };

/** Something is held down, and the camera moves for as long: said again and again, and then that it is over. */
export class MoveHold {
  readonly #deps: MoveHoldDeps;
  #held: Speed | null = null;
  #cancel = (): void => {};
  #isOnItsWay = false;

  constructor(deps: MoveHoldDeps) {
    this.#deps = deps;
  }

  /** Keys repeat by themselves: what is held already goes on. */
  begin(speed: Speed): void {
    if (this.#held === speed) return;
    this.#cancel();
    this.#held = speed;
    this.#say();
    this.#cancel = this.#deps.every(SAY_EVERY_MS, () => this.#say());
  }

  end(): void {
    if (this.#held === null) return;
    this.#cancel();
    this.#cancel = () => {};
    this.#held = null;
    void this.#deps.send(STILL).catch(() => {});
  }

  #say(): void {
    // On a slow line one at a time: the service would move it on behind whoever let go.
    if (this.#held === null || this.#isOnItsWay) return;
    this.#isOnItsWay = true;
    this.#deps
      .send(this.#held)
      .catch(() => this.end())
      .finally(() => {
        this.#isOnItsWay = false;
      });
  }
}
