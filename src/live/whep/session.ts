import { randomBytes, randomInt } from 'node:crypto';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { AudioCodec } from '../../codec/track.js';
import type { ReportBlock } from '../../rtp/rtcp-writer.js';
import type { AxisMoment } from './packets/media-axis.js';
import type { PacketStore } from './packets/packet-store.js';
import { IceLite, type Remote } from './path/ice-lite.js';
import { MediaSocket } from './path/media-socket.js';
import type { TiedSocket } from './path/tied-socket.js';
import { ViewerPath } from './path/viewer-path.js';
import type { ChosenTracks } from './sdp/choose-codecs.js';
import { buildAnswer } from './sdp/sdp-answer.js';
import type { Offer } from './sdp/sdp-offer.js';
import type { DtlsCertificate } from './secure/certificate.js';
import { DtlsEndpoint, loadDtls, type SessionKeys } from './secure/dtls-endpoint.js';
import { SrtcpReceiver, SrtcpSender } from './secure/srtcp.js';
import { type SrtpBatch, SrtpStream } from './secure/srtp-batch.js';
import { SrtpKeys } from './secure/srtp-keys.js';
import { AudioSender } from './send/audio-sender.js';
import { Feedback, type FeedbackTarget } from './send/feedback.js';
import { writeReports } from './send/sender-reports.js';
import { VideoSender } from './send/video-sender.js';

/** A viewer that doesn't say anything for so long is gone: browsers check every 2.5 s, others every 5 s. */
const SILENCE_MS = 15_000;
/** An answer that nobody makes anything of: checks begin as soon as the viewer has read it. */
const BEGIN_MS = 5_000;
/** An answer that leads to no session. */
const CONNECT_MS = 15_000;
/** Datagrams that are kept while the handshake can't begin yet. */
const MAX_EARLY = 8;

export type SessionDeps = {
  readonly clock: Clock;
  /** What others call our end by in their checks. */
  readonly iceUfrag: string;
  /** The UDP port that all sessions share. */
  readonly port: number;
  readonly certificate: DtlsCertificate;
  readonly addresses: readonly string[];
  readonly store: PacketStore;
  readonly batch: SrtpBatch;
  /** The session may send from now on. */
  readonly onReady: (session: Session) => void;
  /** There is more to send than before. */
  readonly onMore: () => void;
  readonly onEnded: (session: Session, reason: string) => void;
};

/** One viewer: its way, the handshakes on it, and then a sender for each track. */
export class Session implements FeedbackTarget {
  readonly id: string;
  readonly answerSdp: string;
  video: VideoSender | null = null;
  audio: AudioSender | null = null;
  readonly #deps: SessionDeps;
  readonly #tracks: ChosenTracks;
  readonly #socket: MediaSocket;
  readonly #path: ViewerPath;
  readonly #fingerprints: readonly string[];
  readonly #cname = randomBytes(9).toString('base64url');
  readonly #videoSsrc = randomInt(1, 0x7fffffff) * 2;
  readonly #audioSsrc = this.#videoSsrc + 1;
  readonly #feedback: Feedback;
  readonly #startMs: MonotonicMs;
  #dtls: DtlsEndpoint | null = null;
  /** What came while the library was still being loaded; null: it isn't. */
  #earlyDtls: Buffer[] | null = null;
  #rtcpIn: SrtcpReceiver | null = null;
  #rtcpOut: SrtcpSender | null = null;
  #isEnded = false;

  constructor(id: string, offer: Offer, tracks: ChosenTracks, deps: SessionDeps) {
    this.id = id;
    this.#deps = deps;
    this.#tracks = tracks;
    const { media } = (tracks.video ?? tracks.audio)!;
    const ice = new IceLite(deps.iceUfrag, { ufrag: media.iceUfrag, pwd: media.icePwd });
    this.#socket = new MediaSocket(deps.port, (message, tie) => this.#receive(message, tie.remote, tie));
    this.#startMs = deps.clock.monotonicMs();
    this.#feedback = new Feedback(this, this.#startMs);
    this.#path = new ViewerPath(ice, this.#socket, this.#startMs);
    this.#fingerprints = media.fingerprints;
    this.answerSdp = buildAnswer(offer, tracks, {
      sessionNumber: randomInt(1, 2 ** 40),
      iceUfrag: ice.ufrag,
      icePwd: ice.pwd,
      fingerprint: deps.certificate.fingerprint,
      addresses: deps.addresses,
      port: deps.port,
      cname: this.#cname,
      videoSsrc: this.#videoSsrc,
      audioSsrc: this.#audioSsrc,
    });
  }

  /** What came from an address that no session has a socket for. */
  receive(message: Buffer, from: Remote): void {
    this.#receive(message, from, null);
  }

  /** Once a second: reports, and whether anybody is still there. */
  tick(nowMs: MonotonicMs, axis: AxisMoment | null): void {
    if (this.#rtcpOut === null) {
      const sinceMs = nowMs - this.#startMs;
      if (sinceMs > CONNECT_MS || (sinceMs > BEGIN_MS && this.#path.begunMs === null))
        this.end('no connection was made');
      return;
    }
    if (nowMs - this.#path.heardMs > SILENCE_MS) {
      this.end('the viewer went silent');
      return;
    }
    this.report(nowMs, axis);
  }

  /** Tells what the tracks' times are on the wall. The first one goes before a burst that later ones would wait behind. */
  report(nowMs: MonotonicMs, axis: AxisMoment | null): void {
    if (this.#rtcpOut === null || axis === null) return;
    for (const report of writeReports(this.video, this.audio, axis, this.#cname, nowMs)) {
      this.#socket.send(this.#rtcpOut.protect(report));
    }
  }

  end(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#dtls?.sayGoodbye();
    this.#socket.close();
    this.#deps.onEnded(this, reason);
  }

  onLost(ssrc: number, sequence: number): void {
    if (ssrc === this.video?.ssrc) this.video.repeat(sequence, this.#deps.clock.monotonicMs());
  }

  onKeyframeWanted(ssrc: number): void {
    if (ssrc !== this.video?.ssrc) return;
    if (this.video.restart(this.#deps.clock.monotonicMs())) this.#deps.onMore();
  }

  onReport(report: ReportBlock): void {
    if (report.ssrc !== this.video?.ssrc) return;
    this.video.hear(report, this.#deps.clock.monotonicMs());
    if (this.video.endReason !== null) this.end(this.video.endReason);
  }

  /** What a viewer sends can end its own session, and nothing else. */
  #receive(message: Buffer, from: Remote, tie: TiedSocket | null): void {
    const first = message[0];
    if (first === undefined || this.#isEnded) return;
    try {
      this.#dispatch(first, message, from, tie);
    } catch (fault) {
      this.end(`a datagram could not be handled: ${messageOf(fault)}`);
    }
  }

  /** Tells the kinds of datagrams on one port apart by their first byte (RFC 7983 §7). */
  #dispatch(first: number, message: Buffer, from: Remote, tie: TiedSocket | null): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (first < 4) {
      if (this.#path.onCheck(message, from, nowMs)) void this.#startDtls();
      else if (tie !== null && this.#path.onAnswer(message, tie, nowMs)) this.#deps.onMore();
    } else if (tie === null) return;
    else if (first >= 20 && first < 64) {
      if (this.#path.takesHandshake(tie, nowMs)) this.#onDtls(message);
    } else if (first >= 128 && first < 192 && this.#path.isPath(tie)) this.#onRtcp(message, nowMs);
  }

  #onDtls(message: Buffer): void {
    if (this.#dtls !== null) this.#dtls.receive(message);
    // Its first message would be repeated after a second only.
    else if (this.#earlyDtls !== null && this.#earlyDtls.length < MAX_EARLY) this.#earlyDtls.push(message);
  }

  async #startDtls(): Promise<void> {
    if (this.#dtls !== null || this.#earlyDtls !== null) return;
    const early: Buffer[] = [];
    this.#earlyDtls = early;
    const library = await loadDtls();
    if (this.#isEnded) return;
    this.#earlyDtls = null;
    this.#dtls = new DtlsEndpoint(library, this.#deps.certificate, this.#fingerprints, {
      send: (datagram) => this.#socket.send(datagram),
      onKeys: (keys) => this.#startMedia(keys),
      onClosed: (reason) => this.end(reason),
    });
    for (const message of early) this.#dtls.receive(message);
  }

  #onRtcp(message: Buffer, nowMs: MonotonicMs): void {
    const packetType = message[1] ?? 0;
    // RTP of the viewer, if it sends any, is none of our business (RFC 5761 §4).
    if (packetType < 192 || packetType > 223) return;
    const plain = this.#rtcpIn?.open(message);
    if (plain === undefined || plain === null) return;
    this.#path.heardMs = nowMs;
    this.#feedback.read(plain, nowMs);
  }

  #startMedia(keys: SessionKeys): void {
    if (this.#isEnded) return;
    const { store, batch, clock } = this.#deps;
    const socket = this.#socket;
    this.#rtcpOut = new SrtcpSender(new SrtpKeys('rtcp', keys.localKey, keys.localSalt));
    this.#rtcpIn = new SrtcpReceiver(new SrtpKeys('rtcp', keys.remoteKey, keys.remoteSalt));
    const rtp = new SrtpKeys('rtp', keys.localKey, keys.localSalt);
    const { video, audio } = this.#tracks;
    // Sequence numbers begin in the lower half: a receiver can't take the first wrap for none (RFC 3711 §3.3.1).
    const start = () => ({ index: randomInt(0x8000), timestamp: randomInt(0x7fffffff) });
    if (video !== null) {
      const stream = new SrtpStream(rtp, this.#videoSsrc, video.format.payloadType);
      const nowMs = clock.monotonicMs();
      this.video = new VideoSender({ store, batch, socket, stream, nowMs }, start());
    }
    if (audio !== null) {
      const stream = new SrtpStream(rtp, this.#audioSsrc, audio.format.payloadType);
      const codec = audio.format.encoding as AudioCodec;
      const { clockRateHz } = audio.format;
      this.audio = new AudioSender({ batch, socket, stream }, { codec, clockRateHz }, start());
    }
    this.#deps.onReady(this);
  }
}
