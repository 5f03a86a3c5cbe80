/** A box, and where it is asked. */
export type BoxAddress = { readonly box: string; readonly host: string; readonly port: number };

/** What the thread that asks other boxes is started with. */
export type AskerSetup = {
  readonly box: string;
  /** What boxes know each other by. */
  readonly key: Uint8Array;
  /** By which jobs ask it for recordings. */
  readonly mailbox: SharedArrayBuffer;
};

/** `withinMs`: until it says anything, and from one word to the next; `inAllMs`: until all is here. */
export type AskLimits = { readonly withinMs: number; readonly inAllMs: number; readonly maxBytes: number };

export type ToAsker =
  /** Those that are here. */
  | { readonly type: 'boxes'; readonly boxes: readonly BoxAddress[] }
  | {
      readonly type: 'ask';
      readonly id: number;
      readonly box: string;
      readonly question: Readonly<Record<string, unknown>>;
      readonly limits: AskLimits;
    }
  | { readonly type: 'stop' };

export type FromAsker =
  | { readonly type: 'thread'; readonly stats: SharedArrayBuffer }
  | {
      readonly type: 'answer';
      readonly id: number;
      readonly fault: { readonly code: string; readonly message: string } | null;
      readonly content: Readonly<Record<string, unknown>>;
      readonly bytes: Uint8Array<ArrayBuffer>;
    }
  /** What is known of a camera at a box isn't so. */
  | { readonly type: 'stale'; readonly box: string; readonly cameraId: string };
