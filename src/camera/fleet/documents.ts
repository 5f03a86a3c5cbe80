/** A metadata document of a camera, as it came, at its place in the time of the camera's frames. */
export type CameraDocument = { readonly bytes: Uint8Array; readonly wallMs: number };

type Listener = (document: CameraDocument) => void;

export type DocumentsDeps = {
  readonly has: (key: string) => boolean;
  /** Somebody follows a source's documents who didn't before, or nobody any more. */
  readonly onWish: (key: string) => void;
};

/** Who follows which source's metadata documents: only those leave their threads. */
export class Documents {
  readonly #deps: DocumentsDeps;
  readonly #listeners = new Map<string, Set<Listener>>();

  constructor(deps: DocumentsDeps) {
    this.#deps = deps;
  }

  /** Whether the source sends some at present. */
  has(key: string): boolean {
    return this.#deps.has(key);
  }

  isWanted(key: string): boolean {
    return this.#listeners.has(key);
  }

  follow(key: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(key) ?? new Set();
    listeners.add(listener);
    if (listeners.size === 1) {
      this.#listeners.set(key, listeners);
      this.#deps.onWish(key);
    }
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#listeners.delete(key);
      this.#deps.onWish(key);
    };
  }

  onDocument(key: string, document: CameraDocument): void {
    for (const listener of [...(this.#listeners.get(key) ?? [])]) listener(document);
  }
}
