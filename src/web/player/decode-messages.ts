import type { Load } from './governor.js';
import type { TileReport } from './tile-report.js';

/** How wide and high a tile is on the screen, in its own pixels. */
export type TileSize = { readonly width: number; readonly height: number };

export type ToDecodeWorker =
  /** The socket's worker is at the other end. */
  | { readonly op: 'socket'; readonly port: MessagePort }
  | { readonly op: 'canvas'; readonly tile: number; readonly canvas: OffscreenCanvas }
  /** Fragments for a `<video>` instead of pictures. */
  | { readonly op: 'fragments'; readonly tile: number }
  | { readonly op: 'size'; readonly tile: number; readonly size: TileSize }
  /** Its pictures are to follow each other evenly, though a little later. */
  | { readonly op: 'paced'; readonly tile: number; readonly isPaced: boolean }
  | { readonly op: 'gone'; readonly tile: number }
  /** How many streams here may have a decoder of the graphics chip. */
  | { readonly op: 'limits'; readonly hardware: number };

export type FromDecodeWorker =
  | { readonly op: 'report'; readonly load: Load; readonly tiles: readonly TileReport[] }
  /** The browser took the tile's canvas away, and gave none back. */
  | { readonly op: 'canvas-lost'; readonly tile: number }
  /** The first picture of a tile is on the screen, or the first of another stream. */
  | { readonly op: 'first'; readonly report: TileReport }
  /** Nothing more will come: `codec`: not decoded here; `failed`: too many decoders broke. */
  | {
      readonly op: 'fault';
      readonly tile: number;
      /** The service's number of what isn't shown. */
      readonly stream: number;
      readonly kind: 'codec' | 'failed';
      readonly message: string;
    }
  | { readonly op: 'init'; readonly tile: number; readonly mime: string; readonly data: ArrayBuffer }
  | { readonly op: 'fragment'; readonly tile: number; readonly wallMs: number; readonly data: ArrayBuffer };
