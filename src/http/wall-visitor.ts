import type { HeldPlace } from './held-place.js';

/** Whoever opened a wall: a place of its own, and one for each camera that is shown in it. */
export class WallVisitor {
  readonly username: string;
  readonly #place: HeldPlace;
  readonly #connect: (username: string, cameraId: string) => HeldPlace;

  constructor(place: HeldPlace, connect: (username: string, cameraId: string) => HeldPlace) {
    this.username = place.username ?? '';
    this.#place = place;
    this.#connect = connect;
  }

  /** Takes a place on a camera, which must be released. Throws `not_found`, `forbidden` or `no_picture`. */
  watch(cameraId: string): HeldPlace {
    return this.#connect(this.username, cameraId);
  }

  /** Says who is told when all of it must end. */
  onEnd(listener: () => void): void {
    this.#place.onEnd(listener);
  }

  /** The page is gone. */
  release(): void {
    this.#place.release();
  }
}
