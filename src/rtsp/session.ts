import type { Clock } from '../base/clock.js';
import { messageOf } from '../base/errors.js';
import type { Logger } from '../base/log.js';
import { Authenticator } from './auth.js';
import type { TrackHandler } from './channel-map.js';
import { makeCounters, type RtspCounters } from './counters.js';
import { RtspDialogue } from './dialogue.js';
import { isRtspError, type RtspError, rtspError } from './errors.js';
import { packetizationModeOf, videoCodecOf } from './media-format.js';
import { decidedOtherwise, defaultPolicies, type PolicyName, type RtspPolicies } from './quirks.js';
import { redirectTarget } from './redirect.js';
import { parseSdp, type SessionDescription } from './sdp.js';
import type { MediaDescription } from './sdp-media.js';
import type { Transport } from './transport-header.js';
import { type CameraUrl, parseCameraUrl } from './url.js';

export type RtspSessionOptions = {
  readonly url: string;
  /** The wished one; see `RtspSession.transport` for what it came to. */
  readonly transport: Transport;
  /** For a camera that the defaults don't suit. */
  readonly policies?: Partial<RtspPolicies>;
};

/**
 * What comes of a session; may be called before `play()` resolves (quirk 14). Over TCP the bytes are valid during
 * the call only; over UDP the buffer is the receiver's to keep.
 */
export interface RtspSessionHandlers extends TrackHandler {
  /** What came so far is over: the tracks begin anew, over `RtspSession.transport` as it is now. */
  onRestart(): void;
  /** A session that played is over; once, and nothing is called after it. Not called for `close()`. */
  onEnd(reason: RtspError): void;
}

export type RtspSessionDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** The worker's one read buffer, reused for the next read of any socket. */
  readonly readBuffer: Buffer;
  readonly handlers: RtspSessionHandlers;
};

const MAX_REDIRECTS = 5;
const UDP_SILENCE_MS = 4_000;
/** GStreamer's server answers 503 to a DESCRIBE right behind the end of a connection to the same stream. */
const CAMERA_REST_MS = 500;

const aborted = (): RtspError => rtspError('aborted', 'the session was closed');

const needsTcp = (media: MediaDescription): boolean =>
  videoCodecOf(media) === 'h264' && packetizationModeOf(media) === 0;

/**
 * One session with one camera, from DESCRIBE to TEARDOWN, on as many connections as it takes (redirects, another
 * transport). Call `describe`, `setup`, `play` in this order; a call that fails has let go of everything, and
 * rejects with an AppError of `RtspErrorCode`. Reconnecting is the owner's business: with a new session.
 */
export class RtspSession {
  readonly counters: RtspCounters = makeCounters();
  readonly #options: RtspSessionOptions;
  readonly #deps: RtspSessionDeps;
  readonly #policies: RtspPolicies;
  readonly #quirks: Set<PolicyName>;
  #url: CameraUrl | null = null;
  #authenticator: Authenticator | null = null;
  #transport: Transport;
  #hasSwitched = false;
  #dialogue: RtspDialogue | null = null;
  #sessionControl: string | null = null;
  #medias: readonly MediaDescription[] = [];
  #endPause: (() => void) | null = null;
  #callsUnderWay = 0;
  #isPlaying = false;
  /** Why it is over; the first reason counts. */
  #endedBy: RtspError | null = null;

  constructor(options: RtspSessionOptions, deps: RtspSessionDeps) {
    this.#options = options;
    this.#deps = deps;
    this.#policies = { ...defaultPolicies, ...options.policies };
    this.#quirks = new Set(decidedOtherwise(this.#policies));
    this.#transport = options.transport;
  }

  /** What the media comes over; settled by the time the first packet is handed on, and when `play()` resolves. */
  get transport(): Transport {
    return this.#transport;
  }

  /** The policies that count: those decided otherwise for this camera, and those that it turned out to need. */
  get activeQuirks(): ReadonlySet<PolicyName> {
    return this.#quirks;
  }

  /** Which of the medias given to `setup` the camera agreed to send. */
  get liveTracks(): readonly boolean[] {
    return this.#dialogue?.liveTracks ?? [];
  }

  /** Connects and asks what the camera has. */
  describe(): Promise<SessionDescription> {
    return this.#call(() => {
      this.#url = parseCameraUrl(this.#options.url);
      return this.#open(this.#url);
    });
  }

  /** Asks for these medias of the description; `trackIndex` is the index in this array. */
  setup(medias: readonly MediaDescription[]): Promise<void> {
    return this.#call(async () => {
      this.#medias = medias;
      // Nothing was set up yet: that is no change of transport, and a camera that refuses TCP still gets UDP.
      if (this.#policies.packetizationMode0 === 'force_tcp' && medias.some(needsTcp)) this.#forceTcp();
      const dialogue = this.#current();
      try {
        await dialogue.setup(medias, this.#transport, this.#sessionControl);
      } catch (error) {
        const isRefused = isRtspError(error) && error.code === 'unsupported_transport';
        if (!isRefused || this.#policies.refusedTransport === 'give_up') throw error;
        this.#switchTo(
          this.#transport === 'tcp' ? 'udp' : 'tcp',
          'refusedTransport',
          'the camera refused it',
        );
        if (dialogue.liveTracks.includes(true)) await this.#beginAnew();
        else await dialogue.setup(medias, this.#transport, this.#sessionControl);
      }
    });
  }

  /** Starts the stream. Over UDP it resolves when each track was heard, or has been asked for over TCP. */
  play(): Promise<void> {
    return this.#call(async () => {
      await this.#current().play();
      if (this.#transport === 'udp') await this.#outlastSilence();
      this.#isPlaying = true;
    });
  }

  /** Sends an RTCP packet of ours to the camera; dropped and counted where it doesn't read. */
  sendRtcp(trackIndex: number, packet: Buffer): void {
    this.#dialogue?.sendRtcp(trackIndex, packet);
  }

  /** Ends the session: TEARDOWN, a second at most, then every socket is gone. No handler is called from now on. */
  close(): Promise<void> {
    return this.#end(aborted());
  }

  /** Runs one step; when it fails the session is over, and everything is let go of before the caller hears of it. */
  async #call<T>(step: () => Promise<T>): Promise<T> {
    this.#throwIfEnded();
    this.#callsUnderWay += 1;
    try {
      const result = await step();
      this.#throwIfOver();
      return result;
    } catch (thrown) {
      const reason = isRtspError(thrown)
        ? thrown
        : rtspError('internal_error', `the session failed: ${messageOf(thrown)}`, { cause: thrown });
      await this.#end(reason);
      throw this.#endedBy;
    } finally {
      this.#callsUnderWay -= 1;
    }
  }

  #throwIfEnded(): void {
    if (this.#endedBy !== null) throw this.#endedBy;
  }

  /** A connection may break behind an answer that came in the same read. */
  #throwIfOver(): void {
    const reason = this.#endedBy ?? this.#dialogue?.endedBy ?? null;
    if (reason !== null) throw reason;
  }

  #current(): RtspDialogue {
    if (this.#dialogue === null) throw rtspError('internal_error', 'describe() comes first');
    return this.#dialogue;
  }

  /** Connects and describes, following redirects. */
  async #open(from: CameraUrl): Promise<SessionDescription> {
    let url = from;
    let hasReconnected = false;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; ) {
      const dialogue = this.#begin(url);
      try {
        const response = await dialogue.open();
        const target = redirectTarget(url, response);
        if (target === null) {
          const description = parseSdp(response.body.toString('utf8'));
          dialogue.useDescription(response, description);
          this.#url = url;
          this.#sessionControl = description.control;
          return description;
        }
        redirects += 1;
        if (target.host !== url.host || target.credentials !== url.credentials) this.#authenticator = null;
        url = target;
      } catch (error) {
        // Some cameras close with the 401 itself: what they asked for goes into a new connection.
        const isClosed = isRtspError(error) && error.code === 'closed_by_camera';
        if (!isClosed || hasReconnected || this.#authenticator?.isChallenged !== true) throw error;
        hasReconnected = true;
      }
    }
    throw rtspError('protocol_error', `the camera redirects more than ${MAX_REDIRECTS} times`);
  }

  /** A new dialogue in place of the one before, which has no session to take leave of, or did. */
  #begin(url: CameraUrl): RtspDialogue {
    this.#throwIfEnded();
    void this.#dialogue?.end(aborted(), 'silently');
    this.#authenticator ??= new Authenticator(url.credentials);
    const { clock, readBuffer, handlers } = this.#deps;
    const dialogue = new RtspDialogue(
      {
        url,
        policies: this.#policies,
      },
      {
        clock,
        readBuffer,
        counters: this.counters,
        authenticator: this.#authenticator,
        tracks: handlers,
        onQuirk: (name) => void this.#quirks.add(name),
        onBroken: (reason) => this.#onBroken(reason),
      },
    );
    this.#dialogue = dialogue;
    return dialogue;
  }

  /** Waits for packets of each track over UDP; where one stays silent TCP is to carry them all. */
  async #outlastSilence(): Promise<void> {
    const silent = await this.#current().silentTracks(UDP_SILENCE_MS);
    this.#throwIfOver();
    if (silent.size === 0) return;
    if (this.#policies.silentUdp === 'give_up' || this.#hasSwitched) {
      if (!silent.has('video')) return;
      throw rtspError('timeout', 'the camera sends no video over UDP: check firewalls, or use TCP');
    }
    this.#switchTo('tcp', 'silentUdp', `no packet of ${[...silent].join(' and ')} came over UDP`);
    try {
      await this.#beginAnew();
    } catch (error) {
      const isRefused = isRtspError(error) && error.code === 'unsupported_transport';
      if (!isRefused || silent.has('video')) throw error;
      this.#switchTo('udp', 'refusedTransport', 'the camera refused it');
      await this.#current().setup(this.#medias, this.#transport, this.#sessionControl);
    }
    await this.#current().play();
  }

  #forceTcp(): void {
    if (this.#transport === 'udp') this.#quirks.add('packetizationMode0');
    this.#transport = 'tcp';
  }

  #switchTo(transport: Transport, quirk: PolicyName, why: string): void {
    this.#quirks.add(quirk);
    this.#deps.log.info(`RTSP: taking ${transport} instead of ${this.#transport}: ${why}`);
    this.#hasSwitched = true;
    this.#transport = transport;
  }

  /** A new connection with a new DESCRIBE (quirk 24) and the same tracks. */
  async #beginAnew(): Promise<void> {
    await this.#current().end(aborted());
    this.#throwIfEnded();
    this.#deps.handlers.onRestart();
    await this.#pause(CAMERA_REST_MS);
    await this.#open(this.#url ?? parseCameraUrl(this.#options.url));
    await this.#current().setup(this.#medias, this.#transport, this.#sessionControl);
  }

  /** Ends early when the session does. */
  #pause(durationMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#deps.clock.after(durationMs, resolve);
      this.#endPause = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  /** The dialogue was ended by the camera, or by what it sent. A call under way hears of it by itself. */
  #onBroken(reason: RtspError): void {
    if (this.#callsUnderWay > 0) return;
    void this.#end(reason);
    if (this.#isPlaying) this.#deps.handlers.onEnd(reason);
  }

  /** The one way in which a session ends, whoever ends it; see this folder's README. */
  #end(reason: RtspError): Promise<void> {
    this.#endedBy ??= reason;
    this.#endPause?.();
    return this.#dialogue?.end(this.#endedBy) ?? Promise.resolve();
  }
}
