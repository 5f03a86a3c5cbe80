import { z } from 'zod';
import type { Clock } from '../../../base/clock.js';
import { type Answer, type Content, type Reply, type Route, route } from '../../route.js';
import { idParams } from '../../schemas.js';
import { instantSchema, rangeOf, type TimeRange } from '../../time-range.js';
import { fileQuery, MAX_PLAYED_DAYS, type NamedFile, namedFile, seqOf, seqSchema } from './recording-name.js';

/** `session`: the viewing's id, which child addresses carry; null where they need none. */
type FileWanted = NamedFile & { readonly session: string | null };
type RangeWanted = TimeRange & { readonly session: string | null };

/** Recordings with what was seen in them as subtitles. */
export type RecordedSubtitles = {
  archiveMaster(cameraId: string, wanted: FileWanted): Promise<string>;
  rangeMaster(cameraId: string, wanted: RangeWanted): Promise<string>;
  archiveSubtitles(cameraId: string, wanted: FileWanted): Promise<Content>;
  rangeSubtitles(cameraId: string, wanted: RangeWanted): Promise<Content>;
  /** WebVTT of one part. */
  segmentSubtitles(cameraId: string, wanted: NamedFile & { readonly seq: number }): Promise<string>;
};

export type SubtitleRoutesDeps = { readonly clock: Clock; readonly subtitles: RecordedSubtitles };

const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';
const VTT_TYPE = 'text/vtt';

const watched = { access: 'stream', permission: 'archive.read', params: idParams } as const;
const rangeQuery = z.object({ from: instantSchema, to: instantSchema });

const playlist = (text: Content): Reply => ({ status: 200, text, contentType: PLAYLIST_TYPE });

const playlistAnswer = (description: string): Readonly<Record<number, Answer>> => ({
  200: { description, contentType: PLAYLIST_TYPE },
});

/** Recordings with subtitles, for HLS players. */
export const subtitleRoutes = ({ clock, subtitles }: SubtitleRoutesDeps): Route[] => {
  const timeOf = (query: z.infer<typeof rangeQuery>): TimeRange =>
    rangeOf(query, clock.wallMs(), MAX_PLAYED_DAYS);
  return [
    route({
      method: 'get',
      path: '/hls/:id/archive-master.m3u8',
      ...watched,
      summary: 'A recording with its detections as subtitles: names archive.m3u8 and archive-subs.m3u8',
      query: fileQuery,
      answers: playlistAnswer('A multivariant playlist'),
      handle: async ({ params: { id }, query, viewing: { id: session } }) =>
        playlist(await subtitles.archiveMaster(id, { ...namedFile(query), session })),
    }),
    route({
      method: 'get',
      path: '/hls/:id/range-master.m3u8',
      ...watched,
      summary: 'The same of all that was recorded within a time: names range.m3u8 and range-subs.m3u8',
      query: rangeQuery,
      answers: playlistAnswer('A multivariant playlist'),
      handle: async ({ params: { id }, query, viewing: { id: session } }) =>
        playlist(await subtitles.rangeMaster(id, { ...timeOf(query), session })),
    }),
    route({
      method: 'get',
      path: '/hls/:id/archive-subs.m3u8',
      ...watched,
      summary: 'Detections of a recording as WebVTT, a file beside each of its segments',
      query: fileQuery,
      answers: playlistAnswer('A media playlist'),
      handle: async ({ params: { id }, query, viewing: { id: session } }) =>
        playlist(await subtitles.archiveSubtitles(id, { ...namedFile(query), session })),
    }),
    route({
      method: 'get',
      path: '/hls/:id/range-subs.m3u8',
      ...watched,
      summary: 'Detections of a time as WebVTT, a file beside each of its segments',
      query: rangeQuery,
      answers: playlistAnswer('A media playlist'),
      handle: async ({ params: { id }, query, viewing: { id: session } }) =>
        playlist(await subtitles.rangeSubtitles(id, { ...timeOf(query), session })),
    }),
    route({
      method: 'get',
      path: '/hls/:id/subs.vtt',
      ...watched,
      summary: 'Detections of one part of a recording',
      query: fileQuery.extend({ seq: seqSchema }),
      answers: { 200: { description: 'WebVTT', contentType: VTT_TYPE } },
      handle: async ({ params: { id }, query }) => {
        const wanted = { ...namedFile(query), seq: seqOf('seq', query.seq) };
        const text = await subtitles.segmentSubtitles(id, wanted);
        // Something may come late.
        return {
          status: 200,
          text,
          contentType: VTT_TYPE,
          headers: { 'Cache-Control': 'private, max-age=60' },
        };
      },
    }),
  ];
};
