import type { MountTracks } from './sdp-writer.js';

/** A session that plays: what a feed needs of it. */
export interface Player {
  /** The TCP connection takes no more for now. */
  readonly isBacklogged: boolean;
  sendFrame(frame: OutFrame): void;
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
