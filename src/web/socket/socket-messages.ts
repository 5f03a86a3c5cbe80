import type { Happening } from '../data/happenings.js';
import type { Seen } from '../player/seen.js';
import type { WantedTile } from './decoder-messages.js';
import type { TileAnswer } from './tile-answer.js';

/**
 * `blocked`: the service answers, and lets no socket open. `refused`: the user's role or password is another one now.
 */
export type SocketState =
  | { readonly state: 'connecting' | 'open' | 'blocked' | 'refused' | 'closed' }
  /** `untilMs`: by the clock that nobody sets. */
  | { readonly state: 'waiting'; readonly untilMs: number };

export type ToSocketWorker =
  | { readonly op: 'open'; readonly url: string }
  | { readonly op: 'token'; readonly token: string | null }
  | { readonly op: 'decoder'; readonly decoder: number; readonly port: MessagePort }
  | { readonly op: 'tiles'; readonly tiles: readonly WantedTile[] }
  /** `isNew`: whatever there is of a socket is not to be trusted. */
  | { readonly op: 'wake'; readonly isNew: boolean }
  | { readonly op: 'close' };

export type FromSocketWorker =
  | { readonly op: 'wants-token' }
  | { readonly op: 'state'; readonly state: SocketState }
  | { readonly op: 'tile'; readonly answer: TileAnswer }
  | { readonly op: 'lost'; readonly stream: number; readonly frames: number; readonly reason: string }
  | { readonly op: 'happening'; readonly happening: Happening }
  | { readonly op: 'seen'; readonly camera: string; readonly seen: Seen }
  | { readonly op: 'tick'; readonly serverMs: number; readonly atMs: number }
  | { readonly op: 'sound'; readonly data: ArrayBuffer };
