import { z } from 'zod';
import { clientNetwork } from '../../../base/client-address.js';
import type { Clock } from '../../../base/clock.js';
import type { HeldBytes } from '../../held-bytes.js';
import { type Content, type Reply, type Route, route } from '../../route.js';
import { idParams } from '../../schemas.js';
import { instantSchema, rangeOf, type TimeRange } from '../../time-range.js';
import { fileQuery, MAX_PLAYED_DAYS, type NamedFile, namedFile, seqOf, seqSchema } from './recording-name.js';

type ChildAddresses = {
  /** The viewing's id, which they carry as `?session=`; null where they need none. */
  readonly session: string | null;
};

/** Recordings as players take them. */
export type RecordingPlayback = {
  archivePlaylist(cameraId: string, wanted: NamedFile & ChildAddresses): Promise<Content>;
  rangePlaylist(cameraId: string, wanted: TimeRange & ChildAddresses): Promise<Content>;
  /** One part as MPEG-TS; what it says once it says ever after. */
  segment(
    cameraId: string,
    wanted: NamedFile & { readonly seq: number },
  ): Promise<{ readonly bytes: Buffer; readonly etag: string }>;
};

export type PlaybackRoutesDeps = { readonly clock: Clock; readonly playback: RecordingPlayback };

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';

const playlist = (text: Content): Reply => ({ status: 200, text, contentType: PLAYLIST_TYPE });

/** What HLS players poll. */
export const playbackRoutes = ({ clock, playback }: PlaybackRoutesDeps, held: HeldBytes): Route[] => [
  route({
    method: 'get',
    path: '/hls/:id/archive.m3u8',
    access: 'stream',
    permission: 'archive.read',
    summary: 'A recording as an HLS playlist; one that is being written grows',
    params: idParams,
    query: fileQuery,
    answers: { 200: { description: 'A media playlist', contentType: PLAYLIST_TYPE } },
    handle: async ({ params: { id }, query, viewing }) =>
      playlist(await playback.archivePlaylist(id, { ...namedFile(query), session: viewing.id })),
  }),
  route({
    method: 'get',
    path: '/hls/:id/range.m3u8',
    access: 'stream',
    permission: 'archive.read',
    summary: 'All that was recorded within a time, a day at most, as an HLS playlist',
    params: idParams,
    query: z.object({ from: instantSchema, to: instantSchema }),
    answers: { 200: { description: 'A media playlist', contentType: PLAYLIST_TYPE } },
    handle: async ({ params: { id }, query, viewing }) => {
      const range = rangeOf(query, clock.wallMs(), MAX_PLAYED_DAYS);
      return playlist(await playback.rangePlaylist(id, { ...range, session: viewing.id }));
    },
  }),
  route({
    method: 'get',
    path: '/hls/:id/segment.ts',
    access: 'stream',
    permission: 'archive.read',
    summary: 'One part of a recording',
    params: idParams,
    query: fileQuery.extend({ seq: seqSchema }),
    answers: {
      200: { description: 'MPEG-TS', contentType: 'video/mp2t' },
      304: { description: 'The part that the client has', contentType: null },
    },
    handle: async ({ params: { id }, query, viewing: { username }, clientAddress, onGone }) => {
      const wanted = { ...namedFile(query), seq: seqOf('seq', query.seq) };
      const { bytes, etag } = await playback.segment(id, wanted);
      onGone(held.hold(username ?? clientNetwork(clientAddress), bytes.length));
      // A part is listed when it is whole, and never changes then.
      const headers = { ETag: etag, 'Cache-Control': 'private, max-age=3600' };
      return { status: 200, text: bytes, contentType: 'video/mp2t', headers };
    },
  }),
];
