import type { Socket } from 'node:net';
import { type Answer, answerText } from './answer.js';
import type { Mount } from './mount.js';
import { RequestReader, type RtspRequest } from './request-reader.js';
import { trackKinds, writeSdp } from './sdp-writer.js';
import { Session, type SessionConnection } from './session.js';
import { TcpTransport, UdpTransport } from './transport.js';
import { channelsFor, readTransport, writeTransport } from './transport-header.js';

/** What a connection needs of its server. */
export interface ConnectionServer {
  readonly acceptsUdp: boolean;
  readonly acceptsTcp: boolean;
  udpBytesSent: number;
  mountAt(url: string): Mount | null;
  onRequest(request: RtspRequest, connection: Connection): void;
  challenge(request: RtspRequest): (readonly [string, string])[] | null;
  onSessionClosed(session: Session, isTornDown: boolean): void;
}

/** More than this unsent, and a camera drops frames. */
const BACKLOG_BYTES = 1024 * 1024;
const KEEPALIVES = ['OPTIONS', 'GET_PARAMETER', 'SET_PARAMETER'];
const RTCP_RECEIVER_REPORT = 201;
/** In all; then the rest of an answer goes out at once. */
const MAX_SLOW_ANSWER_MS = 2_000;

const ok = (...headers: (readonly [string, string])[]): Answer => ({ status: 200, headers });
const refusal = (status: number): Answer => ({ status, headers: [] });

/** One client's connection: answers its requests and carries its interleaved packets. */
export class Connection implements SessionConnection {
  readonly number: number;
  readonly socket: Socket;
  session: Session | null = null;
  readonly #server: ConnectionServer;
  readonly #reader: RequestReader;
  #mount: Mount | null = null;
  #pending: Promise<void> = Promise.resolve();
  #isAnsweringSlowly = false;
  #deadline: NodeJS.Timeout | null = null;

  constructor(number: number, socket: Socket, server: ConnectionServer) {
    this.number = number;
    this.socket = socket;
    this.#server = server;
    this.#reader = new RequestReader({
      onRequest: (request) => {
        this.#pending = this.#pending.then(() => this.#onRequest(request));
      },
      onInterleaved: (_channel, data) => this.#onRtcp(data),
    });
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#reader.push(chunk));
    socket.on('error', () => undefined); // clients may vanish as they like
    socket.on('end', () => this.destroy());
    socket.on('close', () => this.#closeSession(false));
  }

  get isBacklogged(): boolean {
    return this.socket.writableLength > 0;
  }

  writeRaw(bytes: Buffer): void {
    if (this.#isAnsweringSlowly || this.socket.writableLength > BACKLOG_BYTES) return;
    if (this.socket.writable) this.socket.write(bytes);
  }

  destroy(): void {
    this.socket.destroySoon();
  }

  #closeSession(isTornDown: boolean): void {
    const session = this.session;
    this.session = null;
    if (this.#deadline !== null) clearTimeout(this.#deadline);
    this.#deadline = null;
    if (session === null) return;
    session.close();
    this.#server.onSessionClosed(session, isTornDown);
  }

  #onRtcp(packet: Buffer): void {
    if (this.session === null || packet[1] !== RTCP_RECEIVER_REPORT) return;
    this.session.receiverReports += 1;
    this.session.lastReceiverReportMs = performance.now();
  }

  async #onRequest(request: RtspRequest): Promise<void> {
    const mount = this.#server.mountAt(request.url) ?? this.#mount;
    this.#server.onRequest(request, this);
    if (this.session !== null) this.session.lastRequestMs = performance.now();
    if (mount === null) {
      await this.#write(`RTSP/1.0 404 Not Found\r\nCSeq: ${request.headers.get('cseq') ?? 0}\r\n\r\n`, null);
      return;
    }
    const faults = mount.faults;
    if (faults.resetOn.includes(request.method)) {
      this.socket.resetAndDestroy();
      return;
    }
    const isKeepalive = this.session?.isPlaying === true && KEEPALIVES.includes(request.method);
    if (faults.neverAnswer.includes(request.method)) return;
    if (isKeepalive && faults.keepalive === 'ignore') return;
    const answer =
      isKeepalive && faults.keepalive === 'refuse' ? refusal(501) : await this.#answer(request, mount);
    await this.#write(answerText(answer, request, faults), faults.byteDelayMs);
    if (request.method === 'TEARDOWN') this.#closeSession(true);
  }

  async #write(text: string, byteDelayMs: number | null): Promise<void> {
    if (byteDelayMs === null) {
      if (this.socket.writable) this.socket.write(text);
      return;
    }
    this.#isAnsweringSlowly = true;
    const startMs = performance.now();
    for (let at = 0; at < text.length && this.socket.writable; at += 1) {
      // On a busy machine each delay is a longer one, and nobody waits for an answer for ever.
      const isLate = byteDelayMs === 0 && performance.now() - startMs > MAX_SLOW_ANSWER_MS;
      this.socket.write(isLate ? text.slice(at) : text.slice(at, at + 1));
      if (isLate) break;
      await new Promise((resolve) => setTimeout(resolve, byteDelayMs));
    }
    this.#isAnsweringSlowly = false;
  }

  async #answer(request: RtspRequest, mount: Mount): Promise<Answer> {
    const faults = mount.faults;
    const status = faults.answer?.(request) ?? null;
    if (status !== null) return refusal(status);
    if (request.method === 'OPTIONS') return ok(['Public', faults.publicMethods.join(', ')]);
    if (!faults.publicMethods.includes(request.method)) return refusal(501);
    const challenge = this.#server.challenge(request);
    if (challenge !== null) return { status: 401, headers: challenge };
    if (request.method === 'DESCRIBE') return this.#describe(request, mount);
    if (request.method === 'SETUP') return await this.#setup(request, mount);
    const session = this.session;
    if (session === null || !this.#isOfSession(request, session)) return refusal(454);
    const sessionHeader = ['Session', session.id] as const;
    if (request.method === 'PLAY') return this.#play(session, mount, sessionHeader);
    if (request.method === 'PAUSE') session.pause();
    return ok(sessionHeader);
  }

  #isOfSession(request: RtspRequest, session: Session): boolean {
    return request.headers.get('session')?.split(';')[0] === session.id;
  }

  #describe(request: RtspRequest, mount: Mount): Answer {
    this.#mount = mount;
    const faults = mount.faults;
    const url = request.url.replace(/\/$/, '');
    const headers: (readonly [string, string])[] = [];
    const bases = {
      normal: `${url}/`,
      'wrong-host': 'rtsp://192.0.2.77:8554/elsewhere/',
      relative: `${new URL(url).pathname}/`,
      'no-scheme': `${url.replace(/^rtsps?:\/\//, '')}/`,
    };
    if (faults.contentBase !== 'missing') headers.push(['Content-Base', bases[faults.contentBase]]);
    if (faults.contentType !== 'missing') {
      headers.push([
        'Content-Type',
        `application/sdp${faults.contentType === 'normal' ? '' : '; charset=utf-8'}`,
      ]);
    }
    return { status: 200, headers, body: writeSdp(mount.feed.tracks, url, faults) };
  }

  async #setup(request: RtspRequest, mount: Mount): Promise<Answer> {
    const track = Number(/trackID=(\d+)/.exec(request.url)?.[1] ?? 0);
    const kind = trackKinds(mount.feed.tracks)[track];
    if (kind === undefined) return refusal(404);
    const ask = readTransport(request.headers.get('transport') ?? '');
    if (ask.isTcp ? !this.#server.acceptsTcp : !this.#server.acceptsUdp || ask.clientPorts === null)
      return refusal(461);
    let session = this.session;
    if (session !== null && !this.#isOfSession(request, session)) return refusal(454);
    if (session === null) {
      session = new Session(mount.feed, mount.faults, this);
      this.session = session;
    } else if (mount.faults.sessionIdChanges) {
      session.id = session.newId();
    }
    const faults = mount.faults;
    const channels = ask.isTcp
      ? channelsFor(ask.channels ?? [track * 2, track * 2 + 1], track, faults.interleavedIds)
      : null;
    const transport =
      channels !== null
        ? new TcpTransport(this.socket, channels, (bytes) => this.writeRaw(bytes))
        : await UdpTransport.open(this.socket.localAddress ?? '127.0.0.1', ask.clientPorts ?? [0, 0], {
            isBlocked: () => faults.udpBlocked.includes(kind),
            onSent: (bytes) => {
              this.#server.udpBytesSent += bytes;
            },
            onRtcp: (packet) => this.#onRtcp(packet),
          });
    const { ssrc } = session.addTrack(kind, transport);
    const serverPorts = transport instanceof UdpTransport ? transport.serverPorts : null;
    const timeout = faults.sessionTimeoutSec === null ? '' : `;timeout=${faults.sessionTimeoutSec}`;
    return ok(
      ['Transport', writeTransport({ channels, clientPorts: ask.clientPorts, serverPorts, ssrc }, faults)],
      ['Session', `${session.id}${timeout}`],
    );
  }

  #play(session: Session, mount: Mount, sessionHeader: readonly [string, string]): Answer {
    session.play();
    mount.sendFrames(mount.faults.framesBeforePlayReply);
    this.#watch(session, false);
    const headers: (readonly [string, string])[] = [sessionHeader, ['Range', 'npt=0.000-']];
    const rtpInfo = this.#rtpInfo(session, mount);
    return ok(...headers, ...(rtpInfo === null ? [] : [['RTP-Info', rtpInfo] as const]));
  }

  #rtpInfo(session: Session, mount: Mount): string | null {
    const kind = mount.faults.rtpInfo;
    if (kind === 'missing') return null;
    return session
      .positions()
      .map(({ sequence, rtpTimestamp }, track) => {
        const url = kind === 'wrong-url' ? 'rtsp://192.0.2.77/other' : `${mount.url}/trackID=${track}`;
        const time = kind === 'bad-time' ? 'now' : String(rtpTimestamp);
        const extra = kind === 'unknown-keys' ? ';flavour=sour;ssrc=1' : '';
        return `url=${url};seq=${kind === 'zero-sequence' ? 0 : sequence};rtptime=${time}${extra}`;
      })
      .join(',');
  }

  /** Closes the session once what it requires hasn't come for its time-out. */
  #watch(session: Session, isCertain: boolean): void {
    const { requires, sessionTimeoutSec } = session.faults;
    if (requires === 'nothing' || sessionTimeoutSec === null) return;
    const lastMs = requires === 'requests' ? session.lastRequestMs : session.lastReceiverReportMs;
    const leftMs = lastMs + sessionTimeoutSec * 1000 - performance.now();
    if (leftMs > 0) this.#deadline = setTimeout(() => this.#watch(session, false), leftMs);
    // What came while this thread was held up has come in time, and is still to be read.
    else if (!isCertain) setImmediate(() => this.#watch(session, true));
    else this.destroy();
  }
}
