import type { Clock, MonotonicMs } from '../../base/clock.js';
import type { Logger } from '../../base/log.js';
import type { Pulled } from '../../relay/receive/frames-in.js';
import type { OpenPull, OtherBox } from '../../relay/receive/pull.js';
import { lastFramesOf } from '../../ring/counters.js';
import { RingWriter, type RingWriterDeps } from '../../ring/writer.js';
import type { CameraSource, FromCameraWorker } from '../messages.js';
import { IngestSession } from './ingest-session.js';
import { MetadataTrust } from './metadata-trust.js';
import { StreamTime } from './stream-time.js';

export type IngestDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  /** The one read buffer of the worker. */
  readonly readBuffer: Buffer;
  readonly bell: RingWriterDeps['bell'];
  /** How large a ring may be now. */
  readonly ceiling: NonNullable<RingWriterDeps['ceiling']>;
  readonly send: (message: FromCameraWorker) => void;
  /** The camera's ring, new or replaced by a larger one: for readers in this thread. */
  readonly onRing: (ring: SharedArrayBuffer) => void;
  /** Called for each media packet; returns when it came. */
  readonly onPacket: () => MonotonicMs;
  /** Called for each read of another box's link; returns when it came. */
  readonly onPull: () => MonotonicMs;
  /** Frames may have come without a packet. */
  readonly onFlushed: () => void;
  /** Asks another box for its frames; null: there is none. */
  readonly openPull: OpenPull | null;
};

/** Whatever fills the ring, for a while. */
type Session = {
  readonly isPlaying: boolean;
  takeHandshakeNews?(): boolean;
  run(): void | Promise<void>;
  tick(): void;
  close(): Promise<void>;
};

/** One camera inside its worker: a ring that lasts, and one session at a time that fills it. */
export class Ingest {
  readonly #cameraId: string;
  readonly #deps: IngestDeps;
  readonly #ring: RingWriter;
  #time: StreamTime;
  readonly #metadataTrust = new MetadataTrust();
  /** What is here of another box's ring. */
  readonly #pulled: Pulled = { ring: null, sequence: 0, offsetTicks: 0 };
  #session: Session | null = null;
  #areDocumentsWanted = false;
  /** A new session begins when the last one's TEARDOWN is through: many cameras serve just one at a time. */
  #previousEnd: Promise<void> = Promise.resolve();

  /** `ring`: one that another worker has let go of, or null for a new one. */
  constructor(options: { cameraId: string; ring: SharedArrayBuffer | null }, deps: IngestDeps) {
    const { cameraId } = options;
    this.#cameraId = cameraId;
    this.#deps = deps;
    const onReplaced = (ring: SharedArrayBuffer): void => {
      deps.send({ type: 'ring', cameraId, ring });
      deps.onRing(ring);
    };
    this.#ring = new RingWriter({}, { bell: deps.bell, ceiling: deps.ceiling, onReplaced }, options.ring);
    this.#time = new StreamTime(lastFramesOf(this.#ring.ring), deps.clock);
    onReplaced(this.#ring.ring);
  }

  /** Somebody in another thread waits for this camera's frames. */
  get isWatched(): boolean {
    return this.#ring.subscribers > 0;
  }

  /** The camera was asked for its stream, and sends it as far as anybody knows. */
  get isPlaying(): boolean {
    return this.#session?.isPlaying ?? false;
  }

  /** Whether the camera has answered in a handshake since this was last asked. */
  takeHandshakeNews(): boolean {
    return this.#session?.takeHandshakeNews?.() ?? false;
  }

  connect(attempt: number, source: CameraSource): void {
    this.disconnect();
    const { from } = source;
    const session = from === undefined ? this.#askCamera(attempt, source) : this.#askBox(attempt, from);
    this.#session = session;
    void this.#previousEnd.then(() => session.run());
  }

  #askBox(attempt: number, from: OtherBox): Session {
    const { send, openPull, clock, log, readBuffer, onPull } = this.#deps;
    const cameraId = this.#cameraId;
    if (openPull === null) throw new Error('a box alone has no other to ask');
    return openPull(
      { source: cameraId, from },
      {
        ...{ clock, log, readBuffer, ring: this.#ring, pulled: this.#pulled, onRead: onPull },
        onPath: (path) => {
          send({ type: 'playing', cameraId, attempt });
          send({ type: 'path', cameraId, attempt, path });
        },
        onSeen: (seen) => send({ type: 'seen', cameraId, seen }),
        onStreaming: () => send({ type: 'streaming', cameraId, attempt }),
        onEnded: (fault) => send({ type: 'ended', cameraId, attempt, fault }),
      },
    );
  }

  #askCamera(attempt: number, source: CameraSource): Session {
    const { send, clock } = this.#deps;
    const cameraId = this.#cameraId;
    if (this.#pulled.ring !== null) {
      // Its time goes on where the other box's frames ended.
      this.#pulled.ring = null;
      this.#ring.breakOff();
      this.#time = new StreamTime(lastFramesOf(this.#ring.ring), clock);
    }
    const beganMs = clock.monotonicMs();
    const wantsMetadata = source.wantsMetadata === true && this.#metadataTrust.isAsked(beganMs);
    const session: IngestSession = new IngestSession(wantsMetadata ? source : { ...source, wantsMetadata }, {
      clock,
      log: this.#deps.log,
      readBuffer: this.#deps.readBuffer,
      ring: this.#ring,
      time: this.#time,
      onPacket: this.#deps.onPacket,
      onFlushed: this.#deps.onFlushed,
      onQuirks: (names) => send({ type: 'quirks', cameraId, attempt, names }),
      onPlaying: () => {
        send({ type: 'playing', cameraId, attempt });
        if (source.wantsMetadata === true && !wantsMetadata)
          send({ type: 'metadata_held_off', cameraId, attempt });
      },
      onWaiting: (waiting) => send({ type: 'waiting', cameraId, attempt, waiting }),
      onStreaming: () => send({ type: 'streaming', cameraId, attempt }),
      onMetadata: (isThere) => send({ type: 'metadata', cameraId, attempt, isThere }),
      analytics: {
        onNews: (news) => send({ type: 'analytics', cameraId, news }),
        areDocumentsWanted: () => this.#areDocumentsWanted,
        onDocument: (bytes, wallMs) => send({ type: 'document', cameraId, bytes, wallMs }),
      },
      onEnded: (fault) => {
        if (session.hasAskedForMetadata && fault.code !== 'aborted')
          this.#doubtMetadata(beganMs, session.isStreaming);
        send({ type: 'ended', cameraId, attempt, fault });
      },
    });
    return session;
  }

  /** Whether its metadata documents are told of as they come. */
  wantDocuments(isWanted: boolean): void {
    this.#areDocumentsWanted = isWanted;
  }

  disconnect(): void {
    if (this.#session === null) return;
    // One that never ran ends at once: the one before it may still be taking its leave.
    this.#previousEnd = Promise.all([this.#previousEnd, this.#session.close()]).then(() => {});
    this.#session = null;
  }

  #doubtMetadata(beganMs: MonotonicMs, hadPicture: boolean): void {
    const nowMs = this.#deps.clock.monotonicMs();
    if (this.#metadataTrust.onEnded(nowMs - beganMs, hadPicture, nowMs))
      this.#deps.log.warn('sessions end soon: the metadata track is left alone for an hour');
  }

  /** Every second. */
  tick(): void {
    this.#ring.trim();
    this.#session?.tick();
  }

  /** Ends the session and gives up the ring: for good, or to another worker. */
  async release(closeRing: boolean): Promise<void> {
    this.disconnect();
    if (closeRing) this.#ring.close();
    await this.#previousEnd;
  }
}
