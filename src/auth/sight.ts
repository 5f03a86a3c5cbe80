import type { Viewers } from './viewers.js';

/** Whoever is limited sees what is in these folders, and these cameras, alone. */
export type Limits = { readonly folders: readonly string[]; readonly cameras: readonly string[] };

/** Where cameras are, as of now. */
export type SightDeps = {
  readonly cameras: {
    /** Null where there is no such camera. */
    folderOf(cameraId: string): string | null;
    withTag(tagId: string): readonly string[];
  };
  /** Null where there is no such folder; "" of one at the root. */
  readonly folders: { parentOf(folderId: string): string | null };
  /** The limits of a user or a key; null: it has none, or is no more. */
  readonly limitsOf: (username: string) => Limits | null;
  readonly viewers: Pick<Viewers, 'endUnseen'>;
};

/** What one user or key sees: all else does not exist for it. */
export type Sight = {
  readonly isLimited: boolean;
  /** Another number when a camera may have come into sight, or left it. */
  readonly revision: number;
  seesCamera(cameraId: string): boolean;
  /** Whether it is one of the folders that it sees, or below one; "" is the root. */
  seesFolder(folderId: string): boolean;
  /** Whether a camera that it sees has the tag. */
  seesTag(tagId: string): boolean;
};

/** Of whoever isn't limited, and where nobody is known. */
export const EVERYTHING: Sight = {
  isLimited: false,
  revision: 0,
  seesCamera: () => true,
  seesFolder: () => true,
  seesTag: () => true,
};

/**
 * For what is told as it happens, and for whoever watches: where the database doesn't answer there is nobody to be told
 * so, and nothing is seen.
 */
export const isSurelySeen = (look: () => boolean): boolean => {
  try {
    return look();
  } catch {
    return false;
  }
};

/**
 * What users and keys that are limited to folders may see: the only place where that is decided. It asks the database
 * each time, where that takes microseconds, so that nothing is allowed by what was true before.
 */
export class Sights {
  readonly #deps: SightDeps;
  #revision = 1;
  #isLooking = false;

  constructor(deps: SightDeps) {
    this.#deps = deps;
  }

  of(limits: Limits | null): Sight {
    if (limits === null) return EVERYTHING;
    const folders = new Set(limits.folders);
    const cameras = new Set(limits.cameras);
    const seesFolder = (folderId: string): boolean => this.#isBelow(folderId, folders);
    const seesCamera = (cameraId: string): boolean => {
      const folderId = this.#deps.cameras.folderOf(cameraId);
      return folderId !== null && (cameras.has(cameraId) || seesFolder(folderId));
    };
    const revisionOf = (): number => this.#revision;
    return {
      isLimited: true,
      get revision() {
        return revisionOf();
      },
      seesCamera,
      seesFolder,
      seesTag: (tagId) => this.#deps.cameras.withTag(tagId).some(seesCamera),
    };
  }

  /** The same for whoever has this name now. */
  ofName(username: string): Sight {
    return this.of(this.#deps.limitsOf(username));
  }

  /**
   * Cameras or folders are elsewhere: whoever watches what is out of sight now must stop, at the end of this turn: a
   * thousand cameras that are moved at once are looked at once.
   */
  moved(): void {
    this.#revision++;
    if (this.#isLooking) return;
    this.#isLooking = true;
    queueMicrotask(() => {
      this.#isLooking = false;
      this.#endUnseen();
    });
  }

  #endUnseen(): void {
    const sights = new Map<string, Sight>();
    this.#deps.viewers.endUnseen((username, cameraId) =>
      isSurelySeen(() => {
        const sight = sights.get(username) ?? this.ofName(username);
        sights.set(username, sight);
        return sight.seesCamera(cameraId);
      }),
    );
  }

  /** A camera may name a folder that isn't there: nothing is above that. */
  #isBelow(folderId: string, wanted: ReadonlySet<string>): boolean {
    // A file that somebody else wrote to may have a circle.
    const passed = new Set<string>();
    for (let at = folderId; at !== '' && !passed.has(at); at = this.#deps.folders.parentOf(at) ?? '') {
      if (wanted.has(at)) return true;
      passed.add(at);
    }
    return false;
  }
}
