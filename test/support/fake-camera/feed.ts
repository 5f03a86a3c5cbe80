import type { WallMs } from '../../../src/base/clock.js';
import type { MountTracks } from './sdp-writer.js';
import type { Transport } from './transport.js';

/** One RTP stream of a session, for feeds that write the packets themselves. */
export type PlayerTrack = { readonly transport: Transport; readonly ssrc: number; readonly sequence: number };

/** A session that plays: what a feed needs of it. */
export interface Player {
  /** The TCP connection takes no more for now. */
  readonly isBacklogged: boolean;
  sendFrame(frame: OutFrame): void;
  /** null: the client didn't set that track up. */
  trackOf(kind: 'video' | 'audio'): PlayerTrack | null;
  /** The stream is over: says so with a BYE and closes the connection. */
  finish(): void;
}

/** One frame on its way to the players. */
export type OutFrame = {
  readonly kind: 'video' | 'audio';
  readonly bytes: Buffer;
  readonly isKey: boolean;
  /** Media time as the camera counts it, without wrapping; RTP carries its lower 32 bits. */
  readonly ticks: number;
  /** When it should have been sent: where the camera was held up it comes with others, and is no newer for that. */
  readonly dueMs: WallMs;
};

/** What a mount plays: it runs while somebody plays it. */
export interface Feed {
  readonly tracks: MountTracks;
  /** RTP time of a track's next frame. */
  nextTicks(kind: 'video' | 'audio'): number;
  join(player: Player): void;
  leave(player: Player): void;
  close(): void;
}
