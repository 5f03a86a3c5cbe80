/** What a tile is to get; `decoder` is the number of the decode worker that shows it. */
export type WantedTile = {
  readonly tile: number;
  readonly camera: string;
  readonly stream: 'sub' | 'main';
  readonly mode: 'all' | 'key' | 'off';
  readonly priority: number;
  readonly sound: boolean;
  readonly detections: boolean;
  readonly decoder: number;
};

/** From the socket's worker to one that decodes, without a detour over the page. */
export type ToDecoder =
  | { readonly op: 'connection'; readonly connection: number }
  | {
      readonly op: 'route';
      readonly tile: number;
      readonly stream: number | null;
      readonly isKeysOnly: boolean;
    }
  | { readonly op: 'message'; readonly data: ArrayBuffer }
  /** A description that came before, and is counted already. */
  | { readonly op: 'known'; readonly data: ArrayBuffer };

export type FromDecoder = {
  readonly op: 'taken';
  readonly connection: number;
  readonly messages: number;
  readonly bytes: number;
};
