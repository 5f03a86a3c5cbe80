import { randomBytes, randomInt } from 'node:crypto';
import type { Clock, MonotonicMs } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { AudioCodec } from '../../codec/track.js';
import { AudioSender } from './audio-sender.js';
import type { DtlsCertificate } from './certificate.js';
import type { ChosenTracks } from './choose-codecs.js';
import { DtlsEndpoint, loadDtls, type SessionKeys } from './dtls-endpoint.js';
import { Feedback, type FeedbackTarget, type ReceiverReport } from './feedback.js';
import { IceLite, type Remote } from './ice-lite.js';
import type { MediaSocket } from './media-socket.js';
import type { PacketStore } from './packet-store.js';
import { buildAnswer } from './sdp-answer.js';
import type { Offer } from './sdp-offer.js';
import { writeReports } from './sender-reports.js';
import { SrtcpReceiver, SrtcpSender } from './srtcp.js';
import { type SrtpBatch, SrtpStream } from './srtp-batch.js';
import { SrtpKeys } from './srtp-keys.js';
import { VideoSender } from './video-sender.js';

/** A viewer that doesn't say anything for so long is gone: browsers check every 2.5 s, others every 5 s. */
const SILENCE_MS = 15_000;
/** From here on the viewer may have moved to another network: everybody's checks are heard again. */
const MOVED_MS = 6_000;
/** An answer that leads to no session. */
const CONNECT_MS = 15_000;
/** Datagrams that are kept while the handshake can't begin yet. */
const MAX_EARLY = 8;

export type SessionDeps = {
  readonly clock: Clock;
  readonly socket: MediaSocket;
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

/** One viewer: a socket, the handshakes on it, and then a sender for each track. */
export class Session implements FeedbackTarget {
  readonly id: string;
  readonly answerSdp: string;
  video: VideoSender | null = null;
  audio: AudioSender | null = null;
  readonly #deps: SessionDeps;
  readonly #tracks: ChosenTracks;
  readonly #ice: IceLite;
  readonly #fingerprints: readonly string[];
  readonly #cname = randomBytes(9).toString('base64url');
  readonly #videoSsrc = randomInt(1, 0x7fffffff) * 2;
  readonly #audioSsrc = this.#videoSsrc + 1;
  readonly #feedback = new Feedback(this);
  readonly #startMs: MonotonicMs;
  #nominated: Remote | null = null;
  #dtls: DtlsEndpoint | null = null;
  /** What came while the library was still being loaded; null: it isn't. */
  #earlyDtls: Buffer[] | null = null;
  #rtcpIn: SrtcpReceiver | null = null;
  #rtcpOut: SrtcpSender | null = null;
  #lastHeardMs: MonotonicMs;
  #isEnded = false;

  constructor(id: string, offer: Offer, tracks: ChosenTracks, deps: SessionDeps) {
    this.id = id;
    this.#deps = deps;
    this.#tracks = tracks;
    const { media } = (tracks.video ?? tracks.audio)!;
    this.#ice = new IceLite(media.iceUfrag);
    this.#fingerprints = media.fingerprints;
    this.#startMs = deps.clock.monotonicMs();
    this.#lastHeardMs = this.#startMs;
    this.answerSdp = buildAnswer(offer, tracks, {
      sessionNumber: randomInt(1, 2 ** 40),
      iceUfrag: this.#ice.ufrag,
      icePwd: this.#ice.pwd,
      fingerprint: deps.certificate.fingerprint,
      addresses: deps.addresses,
      port: deps.socket.port,
      cname: this.#cname,
      videoSsrc: this.#videoSsrc,
      audioSsrc: this.#audioSsrc,
    });
    deps.socket.onMessage((message, from) => this.#receive(message, from));
  }

  /** Once a second: reports, and whether anybody is still there. */
  tick(nowMs: MonotonicMs, axis: { readonly ticks: number; readonly wallMs: number } | null): void {
    if (this.#rtcpOut === null) {
      if (nowMs - this.#startMs > CONNECT_MS) this.end('no connection was made');
      return;
    }
    const silentMs = nowMs - this.#lastHeardMs;
    if (silentMs > SILENCE_MS) {
      this.end('the viewer went silent');
      return;
    }
    if (silentMs > MOVED_MS) this.#deps.socket.disconnect();
    if (axis === null || !this.#deps.socket.isConnected) return;
    for (const report of writeReports(this.video, this.audio, axis, this.#cname)) {
      this.#deps.socket.send(this.#rtcpOut.protect(report));
    }
  }

  end(reason: string): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#dtls?.sayGoodbye();
    this.#deps.socket.close();
    this.#deps.onEnded(this, reason);
  }

  onLost(ssrc: number, sequence: number): void {
    if (ssrc === this.video?.ssrc) this.video.repeat(sequence, this.#deps.clock.monotonicMs());
  }

  onKeyframeWanted(ssrc: number): void {
    if (ssrc !== this.video?.ssrc) return;
    if (this.video.restart(this.#deps.clock.monotonicMs())) this.#deps.onMore();
  }

  onReport(ssrc: number, report: ReceiverReport): void {
    if (ssrc === this.video?.ssrc) this.video.hear(report, this.#deps.clock.monotonicMs());
  }

  /** What a viewer sends can end its own session, and nothing else. */
  #receive(message: Buffer, from: Remote): void {
    const first = message[0];
    if (first === undefined || this.#isEnded) return;
    try {
      this.#dispatch(first, message, from);
    } catch (fault) {
      this.end(`a datagram could not be handled: ${messageOf(fault)}`);
    }
  }

  /** Tells the kinds of datagrams on one port apart by their first byte (RFC 7983 §7). */
  #dispatch(first: number, message: Buffer, from: Remote): void {
    if (first < 4) this.#onStun(message, from);
    else if (!this.#isNominated(from)) return;
    else if (first >= 20 && first < 64) this.#onDtls(message);
    else if (first >= 128 && first < 192) this.#onRtcp(message);
  }

  #isNominated({ address, port }: Remote): boolean {
    return this.#nominated?.address === address && this.#nominated.port === port;
  }

  #onStun(message: Buffer, from: Remote): void {
    const result = this.#ice.check(message, from);
    if (result === null) return;
    this.#lastHeardMs = this.#deps.clock.monotonicMs();
    this.#deps.socket.sendTo(result.response, from);
    if (!result.isNominated) return;
    this.#nominated = from;
    if (this.#rtcpOut !== null) this.#deps.socket.connect(from, this.#deps.onMore);
    else void this.#startDtls();
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
      send: (datagram) => {
        if (this.#nominated !== null) this.#deps.socket.sendTo(datagram, this.#nominated);
      },
      onKeys: (keys) => this.#startMedia(keys),
      onClosed: (reason) => this.end(reason),
    });
    for (const message of early) this.#dtls.receive(message);
  }

  #onRtcp(message: Buffer): void {
    const packetType = message[1] ?? 0;
    // RTP of the viewer, if it sends any, is none of our business (RFC 5761 §4).
    if (packetType < 192 || packetType > 223) return;
    const plain = this.#rtcpIn?.open(message);
    if (plain === undefined || plain === null) return;
    this.#lastHeardMs = this.#deps.clock.monotonicMs();
    this.#feedback.read(plain);
  }

  #startMedia(keys: SessionKeys): void {
    if (this.#isEnded || this.#nominated === null) return;
    const { socket, store, batch, clock } = this.#deps;
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
    socket.connect(this.#nominated, () => this.#deps.onReady(this));
  }
}
