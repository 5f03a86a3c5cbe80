import type { Socket } from 'node:net';
import type { Clock } from '../../../base/clock.js';
import { AppError } from '../../../base/errors.js';
import type { StreamInfo } from '../../../codec/track.js';
import { cseqOf, type RtspRequest } from '../../../rtsp/message.js';
import type { Pair } from '../../../rtsp/transport-header.js';
import { Admission, type RtspAccess } from '../admission.js';
import { DEFAULT_CHANNEL, type Track } from '../packets/packet-batch.js';
import { trackPath, writeSdp } from '../sdp.js';
import type { UdpPorts } from '../send/udp-ports.js';
import type { RtspViews } from '../views.js';
import type { Start } from '../watched-stream.js';
import type { Answer } from './answer.js';
import { refusalOf } from './refusal.js';
import { SESSION_TIMEOUT_SEC, type Session, type TrackWay } from './session.js';
import type { Sessions } from './sessions.js';
import { shownBy } from './shown.js';
import { parseStreamAddress, type StreamAddress } from './stream-address.js';
import { parseTransportOffer, type WantedTransport } from './transport-offer.js';

/** How long the first viewer of a camera waits for its picture. */
const PICTURE_TIMEOUT_MS = 10_000;
const PICTURE_CHECK_MS = 50;

const PUBLIC = 'OPTIONS, DESCRIBE, SETUP, PLAY, PAUSE, TEARDOWN, GET_PARAMETER, SET_PARAMETER';
/** Known to RTSP, and nothing that we do. */
const REFUSED = ['ANNOUNCE', 'RECORD', 'REDIRECT'];

export type DialogueDeps = {
  readonly clock: Clock;
  readonly views: RtspViews;
  readonly sessions: Sessions;
  readonly access: RtspAccess;
  /** Null where the connection is encrypted: datagrams beside it would not be. */
  readonly udp: UdpPorts | null;
  /** A track comes over this connection, and reports of it go the other way. */
  readonly onChannels: (pair: Pair) => void;
  /** What the client was let in to is over. */
  readonly onEnd: (reason: string) => void;
};

/** What one client asks, one request after the other, and what it is answered (RFC 2326 §10). */
export class Dialogue {
  readonly #socket: Socket;
  /** Known also when the connection is gone. */
  readonly #address: string;
  readonly #deps: DialogueDeps;
  /** The camera that the client was let in to by this connection, and what lets go of it. */
  #admission: Admission | null = null;
  #letGo: () => void = () => {};
  /** The session that this connection began: it has one at a time, which requests needn't name. */
  #own: Session | null = null;
  #isOver = false;

  constructor(socket: Socket, deps: DialogueDeps) {
    this.#socket = socket;
    this.#address = socket.remoteAddress ?? '';
    this.#deps = deps;
  }

  /** Whether this connection plays, or may soon. */
  get hasSession(): boolean {
    return this.#own !== null;
  }

  async answer(request: RtspRequest): Promise<Answer> {
    if (cseqOf(request.headers) === null) return { status: 400 };
    const wanted = request.headers.get('require') ?? request.headers.get('proxy-require');
    if (wanted !== null) return { status: 551, headers: [['Unsupported', wanted]] };
    try {
      return await this.#answer(request);
    } catch (thrown) {
      const refusal = refusalOf(thrown);
      if (refusal === null) throw thrown;
      return refusal;
    }
  }

  /** The connection is gone: what needs it ends. A session over UDP may live as long as its viewer reports. */
  close(): void {
    this.#isOver = true;
    const own = this.#own;
    const mayGoOn = own?.kind === 'udp' && own.isPlaying;
    if (!mayGoOn || !this.#deps.sessions.outlives(own, this.#address)) own?.end(null);
    this.#letGo();
  }

  async #answer(request: RtspRequest): Promise<Answer> {
    switch (request.method) {
      case 'OPTIONS':
        return this.#keptAlive(request);
      case 'DESCRIBE':
        return await this.#describe(request);
      case 'SETUP':
        return await this.#setUp(request);
      case 'PLAY':
        return this.#play(this.#sessionOf(request), request);
      case 'PAUSE':
        return this.#pause(this.#sessionOf(request));
      case 'TEARDOWN':
        return this.#tearDown(this.#sessionOf(request));
      case 'GET_PARAMETER':
      case 'SET_PARAMETER':
        return this.#keptAlive(request);
      default:
        if (!REFUSED.includes(request.method)) return { status: 501 };
        return { status: 405, headers: [['Allow', PUBLIC]] };
    }
  }

  #keptAlive(request: RtspRequest): Answer {
    const isNamed = request.headers.get('session') !== null;
    const session = isNamed ? this.#sessionOf(request) : null;
    if (isNamed && session === null) return { status: 454 };
    const headers = request.method === 'OPTIONS' ? ([['Public', PUBLIC]] as const) : [];
    return { status: 200, headers: [...headers, ...(session === null ? [] : sessionHeader(session))] };
  }

  async #describe(request: RtspRequest): Promise<Answer> {
    const address = parseStreamAddress(request.uri);
    if (address === null) return { status: 404 };
    const admission = await this.#admit(address, request);
    const info = await this.#untilDescribed(admission);
    const origin = address.origin === '' ? 'rtsp://localhost' : address.origin;
    return {
      status: 200,
      headers: [
        ['Content-Type', 'application/sdp'],
        ['Content-Base', `${origin}/${address.cameraId}/`],
        ['Cache-Control', 'no-store'],
      ],
      body: writeSdp(
        address.cameraId,
        { info, hasMetadata: hasMetadata(admission) },
        this.#socket.localFamily === 'IPv6',
      ),
    };
  }

  async #setUp(request: RtspRequest): Promise<Answer> {
    const address = parseStreamAddress(request.uri);
    if (address === null) return { status: 404 };
    const known = this.#sessionOf(request);
    if (known === null && request.headers.get('session') !== null) return { status: 454 };
    if (known?.isPlaying === true) return { status: 455 };
    const admission = await this.#admit(address, request);
    if (known !== null && known.admission.watched !== admission.watched) return { status: 459 };
    const info = await this.#untilDescribed(admission);
    const track = address.track ?? (info.audio === null ? 'video' : null);
    if (track === null) return { status: 459 };
    if (track === 'audio' && info.audio === null) return { status: 404 };
    if (track === 'metadata' && !hasMetadata(admission)) return { status: 404 };
    const offers = parseTransportOffer(request.headers.get('transport') ?? '');
    const way = await this.#chooseWay(track, offers, known);
    if (way === null) return { status: 461 };
    const session = known ?? this.#open(admission);
    const before = session.wayOf(track);
    if (before?.kind === 'udp') this.#deps.sessions.forgetReports(session, before.address, before.ports.rtcp);
    session.setUp(track, way);
    if (way.kind === 'udp') this.#deps.sessions.expectReports(session, way.address, way.ports.rtcp);
    else this.#deps.onChannels(way.channels);
    const ssrc = admission.watched.stream.ssrcOf(track).toString(16).padStart(8, '0').toUpperCase();
    return {
      status: 200,
      headers: [['Transport', `${transportText(way)};ssrc=${ssrc}`], ...sessionHeader(session)],
    };
  }

  #open(admission: Admission): Session {
    if (this.#isOver) throw new AppError('no_picture', 'the connection is gone');
    if (this.#deps.sessions.isFull) throw new AppError('no_session_left', 'there are too many sessions');
    const session = this.#deps.sessions.open(admission, (reason) => {
      this.#own = null;
      if (reason !== null) this.#deps.onEnd(reason);
    });
    this.#own = session;
    return session;
  }

  /** The first of the client's offers that can be had; all tracks of a session travel alike. */
  async #chooseWay(
    track: Track,
    offers: readonly WantedTransport[],
    session: Session | null,
  ): Promise<TrackWay | null> {
    const { udp } = this.#deps;
    const address = this.#socket.remoteAddress;
    const localAddress = this.#socket.localAddress;
    for (const offer of offers) {
      const isAlike = session === null || session.kind === null || session.kind === offer.kind;
      if (!isAlike && session.tracks.some((other) => other !== track)) continue;
      if (offer.kind === 'tcp') {
        const rtp = DEFAULT_CHANNEL[track];
        const channels = offer.channels ?? { rtp, rtcp: rtp + 1 };
        return { kind: 'tcp', channels, socket: this.#socket };
      }
      if (udp === null || address === undefined || localAddress === undefined) continue;
      const pair = await udp.at(localAddress).catch(() => null);
      if (pair !== null) return { kind: 'udp', ports: offer.ports, address, udp: pair };
    }
    return null;
  }

  #play(session: Session | null, { uri }: RtspRequest): Answer {
    if (session === null) return { status: 454 };
    if (session.kind === null) return { status: 455 };
    const headers = [...sessionHeader(session), ['Range', 'npt=now-']] as const;
    if (session.isPlaying) return { status: 200, headers };
    const start = session.admission.watched.stream.startPoint();
    const info = start === null ? [] : ([['RTP-Info', rtpInfo(uri, session, start)]] as const);
    return { status: 200, headers: [...headers, ...info], afterwards: () => session.play(start) };
  }

  #pause(session: Session | null): Answer {
    if (session === null) return { status: 454 };
    session.pause();
    return { status: 200, headers: sessionHeader(session) };
  }

  #tearDown(session: Session | null): Answer {
    if (session === null) return { status: 454 };
    session.end(null);
    return { status: 200 };
  }

  /** The session that a request names, which has given a sign of life by that; or else this connection's own. */
  #sessionOf({ headers }: RtspRequest): Session | null {
    const id = headers.get('session')?.split(';', 1)[0]?.trim();
    const session = id === undefined ? this.#own : (this.#deps.sessions.get(id) ?? null);
    session?.heard(this.#deps.clock.monotonicMs());
    return session;
  }

  /** Lets the client in to a camera, unless this connection was let in to it before. */
  async #admit({ cameraId, stream, token }: StreamAddress, { headers }: RtspRequest): Promise<Admission> {
    const present = this.#admission;
    // Content-Base has no query: SETUP doesn't say again which of the two streams DESCRIBE was for.
    const isPresent = present?.cameraId === cameraId && (stream ?? present.stream) === present.stream;
    if (isPresent && present.watched.endedBy === null) return present;
    const shown = shownBy(headers, token, this.#address);
    const wanted = { cameraId, stream: stream ?? 'main' };
    const { place, source } = await this.#deps.access(cameraId, wanted.stream, shown);
    if (this.#isOver) {
      place.release();
      throw new AppError('no_picture', 'the connection is gone');
    }
    this.#letGo();
    const admission = new Admission(wanted, place, this.#deps.views.watch(source));
    this.#letGo = admission.hold((reason) => {
      this.#letGo();
      this.#deps.onEnd(reason);
    });
    this.#admission = admission;
    return admission;
  }

  async #untilDescribed({ watched }: Admission): Promise<StreamInfo> {
    const { clock } = this.#deps;
    const endMs = clock.monotonicMs() + PICTURE_TIMEOUT_MS;
    for (;;) {
      const info = watched.stream.describe();
      if (info !== null) return info;
      const isLate = clock.monotonicMs() >= endMs;
      if (isLate || watched.endedBy !== null || this.#isOver)
        throw new AppError('no_picture', 'the camera sends no picture');
      await new Promise<void>((resolve) => void clock.after(PICTURE_CHECK_MS, resolve));
    }
  }
}

const hasMetadata = ({ watched }: Admission): boolean => watched.stream.hasMetadata;

const sessionHeader = ({ id }: Session): readonly (readonly [string, string])[] => [
  ['Session', `${id};timeout=${SESSION_TIMEOUT_SEC}`],
];

const transportText = (way: TrackWay): string => {
  if (way.kind === 'tcp') return `RTP/AVP/TCP;unicast;interleaved=${way.channels.rtp}-${way.channels.rtcp}`;
  const { rtpPort } = way.udp;
  const client = `client_port=${way.ports.rtp}-${way.ports.rtcp}`;
  return `RTP/AVP;unicast;${client};server_port=${rtpPort}-${rtpPort + 1}`;
};

/** Where each track's packets begin, by the addresses that DESCRIBE told (RFC 2326 §12.33). */
const rtpInfo = (uri: string, { tracks, admission }: Session, { numbers }: Start): string => {
  const origin = parseStreamAddress(uri)?.origin ?? '';
  return tracks
    .map((track) => {
      const { sequence, rtpTime } = numbers[track];
      return `url=${origin}/${admission.cameraId}/${trackPath[track]};seq=${sequence};rtptime=${rtpTime}`;
    })
    .join(',');
};
