import type { Clock } from '../base/clock.js';
import type { Authenticator } from './auth.js';
import { ChannelMap, type TrackHandler } from './channel-map.js';
import { RtspClient } from './client.js';
import { type ConnectionHandlers, RtspConnection } from './connection.js';
import { resolveControl, resolveSession } from './control-url.js';
import type { RtspCounters } from './counters.js';
import { fromStatus, type RtspError, rtspError } from './errors.js';
import { parsePublic } from './header-values.js';
import { Keepalive, keepaliveMethods } from './keepalive.js';
import { cseqOf, type RtspRequest, type RtspResponse, writeResponse } from './message.js';
import type { PolicyName, RtspPolicies } from './quirks.js';
import type { SessionDescription } from './sdp.js';
import type { MediaDescription } from './sdp-media.js';
import { SilentTracks } from './silent-tracks.js';
import { type Pair, parseTransport, type Transport, writeTransport } from './transport-header.js';
import { type UdpHandler, UdpTrack } from './udp.js';
import type { CameraUrl } from './url.js';

export type DialogueOptions = {
  readonly url: CameraUrl;
  readonly policies: RtspPolicies;
};

export type DialogueDeps = {
  readonly clock: Clock;
  readonly readBuffer: Buffer;
  readonly counters: RtspCounters;
  readonly authenticator: Authenticator;
  readonly tracks: TrackHandler;
  /** The camera is treated otherwise than the standard has it, by this policy. */
  readonly onQuirk: (name: PolicyName) => void;
  /** It was ended by the camera, or by what that sent: once, and not after `end`. */
  readonly onBroken: (reason: RtspError) => void;
};

const TEARDOWN_TIMEOUT_MS = 1_000;
const MAX_TRACKS = 32;
const answeredOk = new Set(['GET_PARAMETER', 'SET_PARAMETER', 'ANNOUNCE', 'REDIRECT', 'TEARDOWN']);

/** How we reach a track's RTCP. */
type LiveTrack = { readonly rtcpChannel: number; readonly udp: UdpTrack | null };

const isOk = (response: RtspResponse): boolean => response.status >= 200 && response.status < 300;

/**
 * All that is said on one connection, from OPTIONS to TEARDOWN, over one transport. A change of transport or host
 * takes a new dialogue.
 */
export class RtspDialogue implements ConnectionHandlers, UdpHandler {
  readonly #options: DialogueOptions;
  readonly #deps: DialogueDeps;
  readonly #connection: RtspConnection;
  readonly #client: RtspClient;
  readonly #channels = new ChannelMap();
  readonly #live: (LiveTrack | null)[] = [];
  readonly #silent: SilentTracks;
  #public: ReadonlySet<string> = new Set();
  #sessionUri: string;
  #contentBase: string | null = null;
  #keepalive: Keepalive | null = null;
  #endedBy: RtspError | null = null;
  #gone: Promise<void> | null = null;

  constructor(options: DialogueOptions, deps: DialogueDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#silent = new SilentTracks(deps.clock);
    const { url, policies } = options;
    this.#sessionUri = url.requestUri;
    const { host, port, isSecure } = url;
    this.#connection = new RtspConnection(
      { host, port, isSecure, certificate: policies.certificate },
      {
        clock: deps.clock,
        readBuffer: deps.readBuffer,
        counters: deps.counters,
        handlers: this,
        onUnverified: () => deps.onQuirk('certificate'),
      },
    );
    this.#client = new RtspClient(
      {
        userAgent: policies.userAgent,
        sessionId: policies.sessionId,
        onIdChange: () => deps.onQuirk('sessionId'),
      },
      this.#connection,
      deps.authenticator,
    );
  }

  /** Why it is over, or null; the first reason counts. */
  get endedBy(): RtspError | null {
    return this.#endedBy;
  }

  /** By index of the medias given to `setup`. */
  get liveTracks(): readonly boolean[] {
    return this.#live.map((track) => track !== null);
  }

  /** Connects, asks for the methods, and for the description; resolves with the answer to DESCRIBE. */
  async open(): Promise<RtspResponse> {
    const { requestUri } = this.#options.url;
    await this.#connection.connect();
    // Whatever the answer is but a wrong password: some cameras refuse OPTIONS and do all else.
    const options = await this.#client.request('OPTIONS', requestUri);
    if (isOk(options)) this.#public = parsePublic(options.headers.all('public'));
    const described = await this.#client.request('DESCRIBE', requestUri, [['Accept', 'application/sdp']]);
    if (described.status < 300 || described.status > 399) return this.#checked('DESCRIBE', described);
    return described;
  }

  /** Names the tracks as this answer to DESCRIBE does. */
  useDescription(response: RtspResponse, description: SessionDescription): void {
    this.#contentBase = response.headers.get('content-base') ?? response.headers.get('content-location');
    this.#sessionUri = resolveSession(description.control, this.#contentBase, this.#options.url.requestUri);
  }

  /**
   * SETUP of each media. What isn't video may be refused (quirk 28) as long as something is left. Medias that share
   * a URL, since they have no control of their own (RFC 2326 §C.1.1), are one stream to the camera: only the first
   * of them is asked for. May be called again, for another transport, as long as no track is live.
   */
  async setup(
    medias: readonly MediaDescription[],
    transport: Transport,
    sessionControl: string | null,
  ): Promise<void> {
    if (medias.length === 0 || medias.length > MAX_TRACKS) {
      throw rtspError('bad_sdp', `the camera offers ${medias.length} tracks that we could take`);
    }
    let refusal: RtspError | null = null;
    this.#live.length = 0;
    this.#silent.clear();
    const asked = new Set<string>();
    for (const [index, media] of medias.entries()) {
      const control = resolveControl(
        sessionControl,
        this.#contentBase,
        this.#options.url.requestUri,
        media.control,
      );
      if (asked.has(control)) {
        this.#live.push(null);
        continue;
      }
      asked.add(control);
      const outcome = await this.#setupTrack(index, control, transport);
      this.#live.push('udp' in outcome ? outcome : null);
      if ('udp' in outcome) {
        // Metadata comes when there is something to tell: its silence says nothing of its way.
        if (outcome.udp !== null && media.kind !== 'application') this.#silent.expect(index, media.kind);
        continue;
      }
      refusal ??= outcome;
      const isFirst = this.#live.every((track) => track === null);
      if (media.kind === 'video' || (isFirst && outcome.code === 'unsupported_transport')) throw outcome;
    }
    if (refusal !== null && this.#live.every((track) => track === null)) throw refusal;
  }

  /** PLAY, and keepalives from its answer on. Packets may come before (quirk 14). RTP-Info is ignored (quirk 13). */
  async play(): Promise<void> {
    await this.#client.demand('PLAY', this.#sessionUri, [['Range', 'npt=0.000-']]);
    this.#throwIfEnded();
    const methods = keepaliveMethods(this.#options.policies.keepalive, this.#public);
    if (methods.length === 0) return;
    this.#keepalive = new Keepalive(methods, this.#client.timeoutMs, {
      clock: this.#deps.clock,
      send: async (method) => (await this.#client.request(method, this.#sessionUri)).status,
      onGivenWay: () => this.#deps.onQuirk('keepalive'),
    });
  }

  /** Over UDP: the kinds of the tracks that stay silent; of all that play none, as a rule, and at once. */
  silentTracks(timeoutMs: number): Promise<ReadonlySet<MediaDescription['kind']>> {
    if (this.#endedBy !== null) this.#silent.clear();
    return this.#silent.wait(timeoutMs);
  }

  sendRtcp(trackIndex: number, packet: Buffer): void {
    const track = this.#live[trackIndex] ?? null;
    if (track === null) return;
    if (track.udp !== null) track.udp.sendRtcp(packet);
    else this.#connection.writeInterleaved(track.rtcpChannel, packet);
  }

  /**
   * The one end of it, and once: no handler is called from now on, and what waits is rejected with `reason`. Then
   * TEARDOWN where there is a session, a second at most, or `silently` none; resolves when all sockets are gone.
   */
  end(reason: RtspError, manner: 'politely' | 'silently' = 'politely'): Promise<void> {
    this.#endedBy ??= reason;
    this.#gone ??= this.#leave(this.#endedBy, manner === 'politely');
    return this.#gone;
  }

  /** For the connection. */
  onInterleaved(channel: number, buffer: Buffer, start: number, end: number): void {
    if (this.#endedBy === null) this.#channels.dispatch(this.#deps.tracks, channel, buffer, start, end);
  }

  /** For the UDP sockets. */
  onUdpRtp(trackIndex: number, packet: Buffer): void {
    if (this.#endedBy !== null) return;
    this.#silent.onRtp(trackIndex);
    this.#guarded(() => this.#deps.tracks.onRtp(trackIndex, packet, 0, packet.length));
  }

  /** For the UDP sockets. */
  onUdpRtcp(trackIndex: number, packet: Buffer): void {
    if (this.#endedBy !== null) return;
    this.#silent.onRtcp(trackIndex);
    this.#guarded(() => this.#deps.tracks.onRtcp(trackIndex, packet, 0, packet.length));
  }

  /** For the connection, which is gone, and for what ends it as surely: nobody is left to say goodbye to. */
  onBroken(reason: RtspError): void {
    if (this.#endedBy !== null) return;
    void this.end(reason, 'silently');
    this.#deps.onBroken(reason);
  }

  /** A camera's own requests: a client has little to say, but silence makes some cameras hang up. */
  onRequest(request: RtspRequest): void {
    const cseq = cseqOf(request.headers);
    const headers: [string, string][] = cseq === null ? [] : [['CSeq', String(cseq)]];
    headers.push(['User-Agent', this.#options.policies.userAgent]);
    if (request.method === 'OPTIONS') headers.push(['Public', 'OPTIONS, GET_PARAMETER, SET_PARAMETER']);
    const isKnown = request.method === 'OPTIONS' || answeredOk.has(request.method);
    const [status, reason] = isKnown ? ([200, 'OK'] as const) : ([501, 'Not Implemented'] as const);
    this.#connection.respond(writeResponse(status, reason, headers));
    if (request.method === 'REDIRECT' || request.method === 'TEARDOWN') {
      this.onBroken(rtspError('closed_by_camera', `the camera ended the session (${request.method})`));
    }
  }

  /** Up to the TEARDOWN it is done when this returns. */
  async #leave(reason: RtspError, isPolite: boolean): Promise<void> {
    this.#keepalive?.stop();
    this.#silent.endWait();
    this.#connection.rejectRequests(reason);
    const hasSession = this.#connection.isOpen && this.#client.sessionId !== null;
    if (isPolite && hasSession && this.#options.policies.teardown === 'always') await this.#teardown();
    this.#connection.end(reason);
    for (const track of this.#live) track?.udp?.close();
  }

  #teardown(): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.after(TEARDOWN_TIMEOUT_MS, resolve);
      const finish = (): void => {
        timer.cancel();
        resolve();
      };
      this.#client.request('TEARDOWN', this.#sessionUri).then(finish, finish);
    });
  }

  #checked(method: string, response: RtspResponse): RtspResponse {
    if (isOk(response)) return response;
    throw fromStatus(method, response.status, response.reason, this.#connection.where);
  }

  /** It may have ended while we waited, or behind the answer that came in the same read. */
  #throwIfEnded(): void {
    if (this.#endedBy !== null) throw this.#endedBy;
  }

  /** One SETUP; an error is what the camera refused it with. */
  async #setupTrack(index: number, uri: string, transport: Transport): Promise<LiveTrack | RtspError> {
    const { localAddress } = this.#connection;
    const udp =
      transport === 'udp' ? await UdpTrack.bind(index, localAddress, this, this.#deps.counters) : null;
    try {
      this.#throwIfEnded();
      const requested = udp?.ports ?? { rtp: index * 2, rtcp: index * 2 + 1 };
      const header = writeTransport(transport, requested);
      const response = await this.#client.request('SETUP', uri, [['Transport', header]]);
      this.#throwIfEnded();
      const outcome = isOk(response)
        ? this.#takeTransport(index, requested, response, udp)
        : fromStatus('SETUP', response.status, response.reason, this.#connection.where);
      if (!('udp' in outcome)) udp?.close();
      return outcome;
    } catch (error) {
      udp?.close();
      throw error;
    }
  }

  #takeTransport(
    index: number,
    requested: Pair,
    response: RtspResponse,
    udp: UdpTrack | null,
  ): LiveTrack | RtspError {
    const reply = parseTransport(response.headers.get('transport') ?? '');
    const transport = udp === null ? 'tcp' : 'udp';
    if (reply.lower !== null && reply.lower !== transport) {
      return rtspError(
        'unsupported_transport',
        `the camera was asked for ${transport} and answered with ${reply.lower}`,
      );
    }
    if (udp !== null) {
      const hosts = [this.#connection.remoteAddress];
      if (reply.source !== null) hosts.push(reply.source);
      udp.setPeer(hosts, reply.serverPorts);
      return { rtcpChannel: 0, udp };
    }
    const { interleavedIds } = this.#options.policies;
    const pair = this.#channels.assign(index, requested, reply.interleaved, interleavedIds);
    if (pair.rtp !== requested.rtp || pair.rtcp !== requested.rtcp) this.#deps.onQuirk('interleavedIds');
    this.#connection.allowChannel(pair.rtp);
    this.#connection.allowChannel(pair.rtcp);
    return { rtcpChannel: pair.rtcp, udp: null };
  }

  /** The border that an exception of one camera doesn't cross; over TCP it is the connection's. */
  #guarded(deliver: () => void): void {
    try {
      deliver();
    } catch (error) {
      this.onBroken(rtspError('internal_error', "handling the camera's data failed", { cause: error }));
    }
  }
}
