import { z } from 'zod';
import type { HlsViewer, LiveHls } from '../../live/hls/live-hls.js';
import type { Answer, Reply, Route } from '../route.js';
import { route } from '../route.js';
import { idParams, type StreamName, type StreamSources, streamQuery } from '../schemas.js';

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';

/** What of live HLS the routes use. */
export type LiveHlsSource = Pick<LiveHls, 'master' | 'video' | 'subtitles' | 'lowLatency' | 'file'>;

const watched = { access: 'stream', permission: 'live.watch', isOftenAsked: true } as const;

const segmentParams = idParams.extend({ segment: z.string().max(64) });

const sequence = z.string().regex(/^\d{1,15}$/, 'must be a whole number');

/** RFC 8216bis §6.2.5: a part is one of a segment's; there is nothing beside segments that `v2` would skip. */
const deliveryQuery = streamQuery
  .extend({
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
  readonly query: { readonly stream: StreamName };
};

const viewerOf = ({ viewing, clientAddress, query: { stream } }: Watching): HlsViewer => ({
  session: viewing.id,
  ...{ clientAddress, stream },
});

const playlist = (text: string): Reply => ({ status: 200, text, contentType: PLAYLIST_TYPE });

const playlistAnswer = (description: string): Readonly<Record<number, Answer>> => ({
  200: { description, contentType: PLAYLIST_TYPE },
});

type Asked = { readonly params: { readonly id: string }; readonly query: { readonly stream: StreamName } };

export type HlsRoutesDeps = { readonly hls: LiveHlsSource; readonly sources: StreamSources };

/** Live HLS: playlists, and the files that they name. */
export const hlsRoutes = ({ hls, sources }: HlsRoutesDeps): Route[] => {
  const sourceIn = ({ params, query }: Asked): string => sources.sourceOf(params.id, query.stream);
  return [
    route({
      method: 'get',
      path: '/stream/hls/:id/index.m3u8',
      ...watched,
      summary:
        'The master manifest of both kinds of stream; the first request waits for the first segment, 10 s at most',
      params: idParams,
      query: streamQuery,
      answers: playlistAnswer('The manifest'),
      handle: async (call) => playlist(await hls.master(sourceIn(call), viewerOf(call))),
    }),
    route({
      method: 'get',
      path: '/stream/hls/:id/stream.m3u8',
      ...watched,
      summary: 'The sliding window of MPEG-TS segments',
      params: idParams,
      query: streamQuery,
      answers: playlistAnswer('The playlist'),
      handle: async (call) => playlist(await hls.video(sourceIn(call), viewerOf(call))),
    }),
    route({
      method: 'get',
      path: '/stream/hls/:id/subs.m3u8',
      ...watched,
      summary: 'Detections as WebVTT, one file beside each video segment',
      params: idParams,
      query: streamQuery,
      answers: playlistAnswer('The playlist'),
      handle: async (call) => playlist(await hls.subtitles(sourceIn(call), viewerOf(call))),
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
        return playlist(
          await hls.lowLatency(sourceIn(call), viewerOf(call), wanted, _HLS_skip !== undefined),
        );
      },
    }),
    route({
      method: 'get',
      path: '/stream/hls/:id/:segment',
      ...watched,
      summary: 'A file that a playlist names: MPEG-TS (segment_<n>.ts), WebVTT, or fragmented MP4',
      params: segmentParams,
      query: streamQuery,
      answers: { 200: { description: 'The file', contentType: ['video/mp2t', 'text/vtt', 'video/mp4'] } },
      handle: async (call) => {
        const { pieces, contentType } = await hls.file(sourceIn(call), call.params.segment, viewerOf(call));
        return { status: 200, text: pieces, contentType };
      },
    }),
  ];
};
