import type { Viewers } from '../../../auth/viewers.js';
import { clientNetwork } from '../../../base/client-address.js';
import { type Clip, sendClip } from '../../clip-response.js';
import type { HeldBytes } from '../../held-bytes.js';
import { type Content, type Route, route } from '../../route.js';
import { idParams } from '../../schemas.js';
import { whileAllowed } from '../../while-allowed.js';
import { fileQuery, type NamedFile, namedFile } from './recording-name.js';

/** Keyframes of recordings, as ranges of their files. */
export type RecordedKeyFrames = {
  keyFramePlaylist(
    cameraId: string,
    wanted: NamedFile & { readonly session: string | null },
  ): Promise<Content>;
  /** The file's own bytes. */
  content(cameraId: string, wanted: NamedFile): Promise<Clip>;
};

export type KeyFrameRoutesDeps = {
  readonly keyFrames: RecordedKeyFrames;
  readonly viewers: Pick<Viewers, 'takePlace'>;
};

/** What a reading holds, and what is on its way. */
const PIECE_BYTES = 1_250_000;
const PLAYLIST_TYPE = 'application/vnd.apple.mpegurl';

/** What HLS players scrub by. */
export const keyFrameRoutes = ({ keyFrames, viewers }: KeyFrameRoutesDeps, held: HeldBytes): Route[] => [
  route({
    method: 'get',
    path: '/hls/:id/keyframes.m3u8',
    access: 'stream',
    permission: 'archive.read',
    summary: 'The keyframes of a recording as an HLS playlist of byte ranges',
    params: idParams,
    query: fileQuery,
    answers: { 200: { description: 'An I-frame playlist', contentType: PLAYLIST_TYPE } },
    handle: async ({ params: { id }, query, viewing: { id: session } }) => {
      const text = await keyFrames.keyFramePlaylist(id, { ...namedFile(query), session });
      return { status: 200, text, contentType: PLAYLIST_TYPE };
    },
  }),
  route({
    method: 'get',
    path: '/hls/:id/recording.mp4',
    access: 'stream',
    permission: 'archive.read',
    summary: 'A recording as it is, for the ranges of its keyframes',
    params: idParams,
    query: fileQuery,
    answers: {
      200: { description: 'The file', contentType: 'video/mp4' },
      206: { description: 'The range that was asked for', contentType: 'video/mp4' },
      304: { description: 'The file that the client has', contentType: null },
    },
    problems: [416],
    handle: ({ params: { id }, query, viewing: { username }, clientAddress }) => {
      const file = namedFile(query);
      return {
        write: async (request, response) => {
          const letGo = held.hold(username ?? clientNetwork(clientAddress), PIECE_BYTES);
          try {
            await whileAllowed(viewers, id, username, response, async () => {
              const content = await keyFrames.content(id, file);
              await sendClip(content, file.fileName, request, response);
            });
          } finally {
            letGo();
          }
        },
      };
    },
  }),
];
