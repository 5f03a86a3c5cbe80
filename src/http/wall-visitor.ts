import { may, type Permission } from '../auth/permissions.js';
import type { Sight } from '../auth/sight.js';
import type { Principal } from '../auth/tokens.js';
import type { HeldPlace } from './held-place.js';

/** Whoever opened a wall: a place of its own, and one for each camera that is shown in it. */
export class WallVisitor {
  readonly sight: Sight;
  readonly #opener: Principal;
  readonly #place: HeldPlace;
  readonly #connect: (cameraId: string) => HeldPlace;

  constructor(opener: Principal, sight: Sight, place: HeldPlace, connect: (cameraId: string) => HeldPlace) {
    this.#opener = opener;
    this.sight = sight;
    this.#place = place;
    this.#connect = connect;
  }

  get username(): string {
    return this.#opener.username;
  }

  may(permission: Permission): boolean {
    return may(this.#opener, permission);
  }

  /** Takes a place on a camera, which must be released. Throws `not_found`, `forbidden` or `no_picture`. */
  watch(cameraId: string): HeldPlace {
    return this.#connect(cameraId);
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
