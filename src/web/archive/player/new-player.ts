import { HlsPlayer } from './hls-player.js';
import type { ArchivePlayer, PlayerEvents } from './player-api.js';
import { WorkerPlayer } from './worker-player.js';

/** Browsers decode single pictures on pages of https and of this machine alone. */
export const newPlayer = (events: PlayerEvents): ArchivePlayer =>
  typeof VideoDecoder === 'undefined' ? new HlsPlayer(events) : new WorkerPlayer(events);
