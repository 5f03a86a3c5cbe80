import { z } from 'zod';
import type { HlsViewer, LiveHls } from '../../live/hls/live-hls.js';
import type { Answer, Reply, Route } from '../route.js';
import { route } from '../route.js';
import { idParams } from '../schemas.js';

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';

/** What of live HLS the routes use. */
export type LiveHlsSource = Pick<LiveHls, 'master' | 'video' | 'subtitles' | 'lowLatency' | 'file'>;

const watched = { access: 'stream', permission: 'live.watch' } as const;

const segmentParams = idParams.extend({ segment: z.string().max(64) });

const sequence = z.string().regex(/^\d{1,15}$/, 'must be a whole number');

/** RFC 8216bis §6.2.5: a part is one of a segment's; there is nothing beside segments that `v2` would skip. */
const deliveryQuery = z
  .object({
    _HLS_msn: sequence.optional(),
    _HLS_part: sequence.optional(),
    _HLS_skip: z.enum(['YES', 'v2']).optional(),
  })
  .refine(({ _HLS_msn, _HLS_part }) => _HLS_part === undefined || _HLS_msn !== undefined, {
    path: ['_HLS_part'],
    message: 'needs _HLS_msn',
  });

type Watching = {
  readonly viewing: { readonly id: string | null };
  readonly clientAddress: string;
};

const viewerOf = ({ viewing, clientAddress }: Watching): HlsViewer => ({
  session: viewing.id,
  clientAddress,
});

const playlist = (text: string): Reply => ({ status: 200, text, contentType: PLAYLIST_TYPE });

const playlistAnswer = (description: string): Readonly<Record<number, Answer>> => ({
  200: { description, contentType: PLAYLIST_TYPE },
});

/** Live HLS: playlists, and the files that they name. */
export const hlsRoutes = ({ hls }: { readonly hls: LiveHlsSource }): Route[] => [
  route({
    method: 'get',
    path: '/stream/hls/:id/index.m3u8',
    ...watched,
    summary:
      'The master manifest of both kinds of stream; the first request waits for the first segment, 10 s at most',
    params: idParams,
    answers: playlistAnswer('The manifest'),
    handle: async (call) => playlist(await hls.master(call.params.id, viewerOf(call))),
  }),
  route({
    method: 'get',
    path: '/stream/hls/:id/stream.m3u8',
    ...watched,
    summary: 'The sliding window of MPEG-TS segments',
    params: idParams,
    answers: playlistAnswer('The playlist'),
    handle: async (call) => playlist(await hls.video(call.params.id, viewerOf(call))),
  }),
  route({
    method: 'get',
    path: '/stream/hls/:id/subs.m3u8',
    ...watched,
    summary: 'Detections as WebVTT, one file beside each video segment',
    params: idParams,
    answers: playlistAnswer('The playlist'),
    handle: async (call) => playlist(await hls.subtitles(call.params.id, viewerOf(call))),
  }),
  route({
    method: 'get',
    path: '/stream/hls/:id/ll.m3u8',
    ...watched,
    summary: 'Low-latency HLS: fragmented MP4 in parts, with blocking reload and delta updates',
    params: idParams,
    query: deliveryQuery,
    answers: playlistAnswer('The playlist, once it has the part that was asked for'),
    handle: async (call) => {
      const { _HLS_msn, _HLS_part, _HLS_skip } = call.query;
      const part = _HLS_part === undefined ? null : Number(_HLS_part);
      const wanted = _HLS_msn === undefined ? null : { segment: Number(_HLS_msn), part };
      return playlist(await hls.lowLatency(call.params.id, viewerOf(call), wanted, _HLS_skip !== undefined));
    },
  }),
  route({
    method: 'get',
    path: '/stream/hls/:id/:segment',
    ...watched,
    summary: 'A file that a playlist names: MPEG-TS (segment_<n>.ts), WebVTT, or fragmented MP4',
    params: segmentParams,
    answers: { 200: { description: 'The file', contentType: ['video/mp2t', 'text/vtt', 'video/mp4'] } },
    handle: async (call) => {
      const { id, segment } = call.params;
      const { pieces, contentType } = await hls.file(id, segment, viewerOf(call));
      return { status: 200, text: pieces, contentType };
    },
  }),
];
