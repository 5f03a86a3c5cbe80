import type { Clock, Timer } from '../../base/clock.js';
import { AppError, messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { Bells } from '../../ring/bells.js';
import { sourceFields } from '../../ring/source-key.js';
import { type WhepErrorCode, whepError } from './errors.js';
import type { FromWhepWorker, ToWhepWorker, WhepWorkerOptions } from './messages.js';
import { CameraStream } from './packets/camera-stream.js';
import { chooseTracks } from './sdp/choose-codecs.js';
import { type OfferedMedia, parseOffer } from './sdp/sdp-offer.js';
import { loadDtls } from './secure/dtls-endpoint.js';
import { SrtpBatch } from './secure/srtp-batch.js';
import { Session } from './session.js';

const TICK_MS = 1_000;
/** Between two portions of what is paced, and of what a link takes. */
const PACE_MS = 1;
const REST_MS = 5;

type Offered = Extract<ToWhepWorker, { type: 'offer' }>;

type Watched = { readonly stream: CameraStream; unlisten: () => void };

/**
 * All that one WHEP worker does: cameras by id, sessions by id, one batch for all that is sent, one tick, one timer
 * for all that is paced. A plain class; the thread around it is workers/whep.ts.
 */
export class WhepWorker {
  readonly #options: WhepWorkerOptions;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #send: (message: FromWhepWorker) => void;
  readonly #batch = new SrtpBatch();
  readonly #bells = new Bells();
  /** The first memory that came for each bell: the same one comes as another object each time. */
  readonly #bellById = new Map<number, SharedArrayBuffer>();
  readonly #cameras = new Map<string, Watched>();
  readonly #sessions = new Map<string, Session>();
  readonly #ticker: Timer;
  #pacer: Timer | null = null;
  /** How long its wait was. */
  #pacerMs = 0;
  /** Those that go on with the next turn of the loop. */
  readonly #busy = new Set<CameraStream>();

  constructor(
    options: WhepWorkerOptions,
    deps: { clock: Clock; log: Logger; send: (message: FromWhepWorker) => void },
  ) {
    this.#options = options;
    this.#clock = deps.clock;
    this.#log = deps.log;
    this.#send = deps.send;
    this.#ticker = deps.clock.every(TICK_MS, () => this.#tick());
  }

  handle(message: Exclude<ToWhepWorker, { type: 'stop' }>): void {
    switch (message.type) {
      case 'feed':
        this.#follow(message);
        break;
      case 'forget':
        this.#forget(message.cameraId);
        break;
      case 'offer':
        this.#answer(message);
        break;
      case 'check':
        this.#sessions.get(message.sessionId)?.receive(Buffer.from(message.datagram), message.from);
        break;
      case 'end':
        this.#sessions.get(message.sessionId)?.end(message.reason);
        break;
    }
  }

  stop(): void {
    this.#ticker.cancel();
    for (const cameraId of [...this.#cameras.keys()]) this.#forget(cameraId);
    this.#pacer?.cancel();
  }

  #follow({ cameraId, ring, bell, bellId }: Extract<ToWhepWorker, { type: 'feed' }>): void {
    const watched = this.#cameras.get(cameraId) ?? this.#watch(cameraId);
    watched.unlisten();
    watched.stream.moveTo(ring);
    const known = this.#bellById.get(bellId);
    if (known === undefined) this.#bellById.set(bellId, bell);
    watched.unlisten = this.#bells.listen(known ?? bell, () => this.#onBell(watched.stream));
  }

  #watch(cameraId: string): Watched {
    const stream = new CameraStream(cameraId, (reason) => endAll(stream, reason));
    const watched = { stream, unlisten: () => {} };
    this.#cameras.set(cameraId, watched);
    return watched;
  }

  #forget(cameraId: string): void {
    const watched = this.#cameras.get(cameraId);
    if (watched === undefined) return;
    endAll(watched.stream, 'the camera is gone');
    this.#reportDropped(cameraId, watched.stream);
    watched.unlisten();
    watched.stream.close();
    this.#cameras.delete(cameraId);
  }

  #answer(offered: Offered): void {
    const { sessionId, cameraId } = offered;
    try {
      const session = this.#open(offered);
      this.#send({ type: 'answer', sessionId, sdp: session.answerSdp });
      // Behind the answer: loading takes longer than answering, and is over before the viewer needs it.
      setImmediate(() => void loadDtls());
    } catch (thrown) {
      const isOurs = thrown instanceof AppError;
      if (!isOurs)
        this.#log.error('an offer could not be answered', {
          ...sourceFields(cameraId),
          reason: messageOf(thrown),
        });
      const code = isOurs ? (thrown.code as WhepErrorCode) : 'whep_unavailable';
      const message = isOurs ? thrown.message : 'the session could not be opened';
      this.#send({ type: 'refused', sessionId, code, message });
    }
  }

  #open({ sessionId, cameraId, iceUfrag, addresses, sdp }: Offered): Session {
    const offer = parseOffer(sdp);
    const stream = this.#cameras.get(cameraId)?.stream;
    const described = stream?.describe() ?? null;
    if (stream === undefined || described === null)
      throw whepError('no_picture', 'the camera has no picture yet');
    if (described.isReordered) {
      throw whepError(
        'b_frames',
        'the camera sends B-frames, which WebRTC can not carry: switch them off, or watch by HLS or WebSocket',
      );
    }
    const tracks = chooseTracks(offer, described.info);
    checkTransport((tracks.video ?? tracks.audio)!.media);
    const { udpPort, certificate } = this.#options;
    const session = new Session(sessionId, offer, tracks, {
      clock: this.#clock,
      iceUfrag,
      port: udpPort,
      certificate,
      addresses,
      store: stream.store,
      batch: this.#batch,
      onReady: () => this.#start(stream, session),
      onMore: () => this.#pump(stream),
      onEnded: (_, reason) => this.#onEnded(stream, session, reason),
    });
    this.#sessions.set(sessionId, session);
    stream.sessions.add(session);
    return session;
  }

  #start(stream: CameraStream, session: Session): void {
    this.#send({ type: 'connected', sessionId: session.id });
    stream.start(session, this.#clock.monotonicMs());
    this.#pump(stream);
  }

  #onEnded(stream: CameraStream, session: Session, reason: string): void {
    stream.remove(session);
    this.#sessions.delete(session.id);
    this.#send({ type: 'ended', sessionId: session.id, reason });
  }

  #onBell(stream: CameraStream): void {
    this.#guard(stream, () => stream.readAll());
    this.#pump(stream);
  }

  #pump(stream: CameraStream): void {
    this.#guard(stream, () => {
      const progress = stream.pump(this.#clock);
      if (progress === 'waits') this.#goOnIn(PACE_MS);
      else if (progress === 'rests') this.#goOnIn(REST_MS);
      // Behind what has come in meanwhile: others' frames, and what viewers say.
      else if (progress === 'more' && !this.#busy.has(stream)) {
        this.#busy.add(stream);
        setImmediate(this.#goOn, stream);
      }
    });
  }

  /** A fault of ours must cost one camera's viewers their session, not all viewers of the thread. */
  #guard(stream: CameraStream, work: () => void): void {
    try {
      work();
    } catch (fault) {
      const fields = { ...sourceFields(stream.cameraId), reason: messageOf(fault) };
      this.#log.error('frames could not be sent', fields);
      endAll(stream, 'internal error');
    }
  }

  readonly #goOn = (stream: CameraStream): void => {
    this.#busy.delete(stream);
    this.#pump(stream);
  };

  #goOnIn(waitMs: number): void {
    if (this.#pacer !== null && this.#pacerMs <= waitMs) return;
    this.#pacer?.cancel();
    this.#pacer = this.#clock.after(waitMs, this.#pace);
    this.#pacerMs = waitMs;
  }

  readonly #pace = (): void => {
    this.#pacer = null;
    for (const { stream } of this.#cameras.values()) this.#pump(stream);
  };

  #tick(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [cameraId, { stream }] of this.#cameras) {
      stream.tick(nowMs);
      this.#reportDropped(cameraId, stream);
    }
  }

  #reportDropped(cameraId: string, stream: CameraStream): void {
    const frames = stream.takeDropped();
    if (frames > 0) this.#send({ type: 'dropped', cameraId, frames });
  }
}

const endAll = (stream: CameraStream, reason: string): void => {
  for (const session of [...stream.sessions]) session.end(reason);
};

/** Without these there is no way to the viewer (RFC 8827 §6.5, RFC 8445 §5.3). */
const checkTransport = ({ iceUfrag, icePwd, fingerprints, setup }: OfferedMedia): void => {
  if (iceUfrag.length < 4 || icePwd.length < 22)
    throw whepError('bad_offer', 'the offer has no ICE credentials');
  if (!fingerprints.some((fingerprint) => /^sha-256 /i.test(fingerprint))) {
    throw whepError('bad_offer', 'the offer has no SHA-256 fingerprint');
  }
  if (setup === 'passive')
    throw whepError('bad_offer', 'the offer must let the viewer begin the DTLS handshake');
};
