import { z } from 'zod';
import { AppError } from '../../base/errors.js';
import type { WhepService } from '../../live/whep/service.js';
import { type Route, route } from '../route.js';
import { idParams, idSchema, messageSchema, type StreamSources, streamQuery } from '../schemas.js';

const contentType = 'application/sdp';
/** Browsers' offers have 3 to 10 KB. */
const MAX_OFFER_BYTES = 65_536;

const sessionParams = z.object({
  id: idSchema,
  session: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, 'must be the name of a session'),
});

/** What of WHEP the routes use. */
export type WhepSource = Pick<WhepService, 'offer' | 'end'>;

export type WhepRoutesDeps = { readonly whep: WhepSource; readonly sources: StreamSources };

/** WebRTC by WHEP: one offer, one answer, and an address that ends the session. */
export const whepRoutes = ({ whep, sources }: WhepRoutesDeps): Route[] => [
  route({
    method: 'post',
    path: '/stream/webrtc/whep/:id',
    access: 'connection',
    permission: 'live.watch',
    audit: null,
    summary: 'Answers an SDP offer; Location is what ends the session',
    params: idParams,
    query: streamQuery,
    body: z.string('must be an SDP offer'),
    bodyType: contentType,
    bodyLimitBytes: MAX_OFFER_BYTES,
    answers: { 201: { description: 'The SDP answer', contentType } },
    problems: [406, 429],
    handle: async ({ params, query, body, place, clientAddress }) => {
      const source = sources.sourceOf(params.id, query.stream);
      const { sessionId, answerSdp } = await whep.offer(source, body, clientAddress, () => place.release());
      // At once, if the place was taken away while the answer was made.
      place.onEnd((reason) => whep.end(params.id, sessionId, reason));
      const headers = { Location: `/stream/webrtc/whep/${params.id}/${sessionId}` };
      return { status: 201, text: answerSdp, contentType, headers };
    },
  }),
  route({
    method: 'delete',
    path: '/stream/webrtc/whep/:id/:session',
    // Nobody else knows the name of a session, and a viewer's token may have expired meanwhile.
    access: 'public',
    audit: null,
    summary: 'Ends a session',
    params: sessionParams,
    answers: { 200: { description: 'Ended', schema: messageSchema } },
    problems: [404],
    handle: ({ params }) => {
      if (!whep.end(params.id, params.session, 'the viewer left'))
        throw new AppError('not_found', 'there is no such session');
      return { status: 200, body: { message: 'session ended' } };
    },
  }),
];
