import { seededRandom } from '../seeded-random.js';
import type { Faults } from './faults.js';
import type { Feed, OutFrame, Player, PlayerTrack } from './feed.js';
import { audioPackets, videoPackets } from './packet-maker.js';
import { type Present, RtpOut } from './rtp-out.js';
import type { MountTracks } from './sdp-writer.js';
import { audioPayloadType, METADATA_PAYLOAD_TYPE, type TrackKind, VIDEO_PAYLOAD_TYPE } from './sdp-writer.js';
import type { Transport } from './transport.js';

type SessionTrack = { readonly kind: TrackKind; readonly transport: Transport; readonly out: RtpOut };

/** What a session needs of the connection that it belongs to. */
export interface SessionConnection {
  readonly isBacklogged: boolean;
  /** Raw bytes between interleaved frames. */
  writeRaw(bytes: Buffer): void;
  destroy(): void;
}

/** Sequence numbers wrap soon, so that every test sees it. */
const FIRST_SEQUENCE = 0xffe0;

let sessionCount = 0;

/** One RTSP session: the tracks that were set up, and what they are sent. */
export class Session implements Player {
  id: string;
  readonly feed: Feed;
  readonly faults: Faults;
  readonly number: number;
  isPlaying = false;
  isClosed = false;
  lastRequestMs = performance.now();
  lastReceiverReportMs = performance.now();
  receiverReports = 0;
  readonly #connection: SessionConnection;
  readonly #tracks: SessionTrack[] = [];
  readonly #random: () => number;
  #waitsForKey = true;

  constructor(feed: Feed, faults: Faults, connection: SessionConnection) {
    sessionCount += 1;
    this.number = sessionCount;
    this.#random = seededRandom(this.number);
    this.id = this.newId();
    this.feed = feed;
    this.faults = faults;
    this.#connection = connection;
  }

  newId(): string {
    return Math.floor(this.#random() * 0x100000000)
      .toString(16)
      .padStart(8, '0');
  }

  trackOf(kind: 'video' | 'audio'): PlayerTrack | null {
    const track = this.#tracks.find((one) => one.kind === kind);
    if (track === undefined) return null;
    return { transport: track.transport, ssrc: track.out.ssrc, sequence: track.out.sequence };
  }

  get isBacklogged(): boolean {
    return this.#connection.isBacklogged;
  }

  /** Adds the track that the client has set up; its RTP stream. */
  addTrack(kind: TrackKind, transport: Transport): RtpOut {
    const { audio } = this.feed.tracks;
    const payloadType =
      kind === 'metadata'
        ? METADATA_PAYLOAD_TYPE
        : kind === 'video' || audio === null
          ? VIDEO_PAYLOAD_TYPE
          : audioPayloadType(audio);
    const ssrc = Math.floor(this.#random() * 0x100000000);
    const out = new RtpOut({ payloadType, ssrc, firstSequence: FIRST_SEQUENCE }, this.faults, transport);
    this.#tracks.push({ kind, transport, out });
    return out;
  }

  /** For RTP-Info: where each track begins. */
  positions(): { kind: 'video' | 'audio'; sequence: number; rtpTimestamp: number }[] {
    return this.#tracks.flatMap(({ kind, out }) =>
      kind === 'metadata'
        ? []
        : [{ kind, sequence: out.sequence, rtpTimestamp: this.feed.nextTicks(kind) >>> 0 }],
    );
  }

  play(): void {
    if (this.isPlaying || this.isClosed) return;
    this.isPlaying = true;
    this.#waitsForKey = !this.faults.startMidGop && this.#tracks.some((track) => track.kind === 'video');
    this.feed.join(this);
  }

  pause(): void {
    this.isPlaying = false;
    this.feed.leave(this);
  }

  sendFrame(frame: OutFrame): void {
    if (this.#waitsForKey) {
      if (frame.kind !== 'video' || !frame.isKey) return;
      this.#waitsForKey = false;
    }
    const track = this.#tracks.find(({ kind }) => kind === frame.kind);
    if (track === undefined || (frame.kind === 'audio' && this.faults.silentAudio)) return;
    if (!this.faults.stall) this.#sendJunk();
    const packets = packetsOf(this.feed.tracks, frame, this.faults);
    const present = { wallMs: frame.dueMs, ticks: packets[0]?.timestamp ?? 0 };
    track.out.sendFrame(packets, frame.isKey && frame.kind === 'video', present);
  }

  /** Packets of the metadata track, if it was set up: the last one with the marker. */
  sendMetadata(payloads: readonly Buffer[], timestamp: number, present: Present): void {
    const out = this.#tracks.find(({ kind }) => kind === 'metadata')?.out;
    const last = payloads.length - 1;
    const packets = payloads.map((payload, index) => ({ payload, timestamp, marker: index === last }));
    if (this.isPlaying) out?.sendFrame(packets, false, present);
  }

  finish(): void {
    this.close();
    this.#connection.destroy();
  }

  close(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.pause();
    for (const { transport } of this.#tracks) transport.close();
  }

  #sendJunk(): void {
    const { unknownChannel, garbageBytes } = this.faults;
    if (unknownChannel) this.#connection.writeRaw(Buffer.from('$\x2a\x00\x08somebody', 'latin1'));
    if (garbageBytes === 0) return;
    const garbage = Buffer.alloc(garbageBytes);
    // Anything but `$`, which would be the head of a frame.
    for (let i = 0; i < garbageBytes; i += 1) garbage[i] = 0x25 + Math.floor(this.#random() * 0xdb);
    this.#connection.writeRaw(garbage);
  }
}

const packetsOf = (tracks: MountTracks, frame: OutFrame, faults: Faults): ReturnType<typeof videoPackets> => {
  const timestamp = faults.timestamps === 'constant' ? 12_345 : frame.ticks % 0x100000000;
  const streamFrame = { bytes: frame.bytes, isKey: frame.isKey, ptsTicks: 0, dtsTicks: 0 };
  if (frame.kind === 'video' && tracks.video !== null) {
    return videoPackets(tracks.video.codec, streamFrame, timestamp, faults);
  }
  return tracks.audio === null ? [] : audioPackets(tracks.audio, streamFrame, timestamp, faults);
};
