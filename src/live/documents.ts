/** What a camera's own analytics tell, as it sent it, at its place in the time of the camera's frames. */
export type Document = { readonly bytes: Uint8Array; readonly wallMs: number };

/** What outputs ask for documents; sources are named by their keys (`ring/source-key.ts`). */
export type Documents = {
  /** Whether a source sends them at present. */
  has(source: string): boolean;
  /** Calls `listener` with each that comes; returns what ends that. Nobody else's come out of the source's thread. */
  follow(source: string, listener: (document: Document) => void): () => void;
};
