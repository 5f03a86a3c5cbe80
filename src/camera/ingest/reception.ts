import { randomInt } from 'node:crypto';
import { MAX_DOCUMENT_BYTES } from '../../analytics/read-metadata.js';
import type { Clock, MonotonicMs, WallMs } from '../../base/clock.js';
import type { RingWriter } from '../../ring/writer.js';
import { AacDepacketizer } from '../../rtp/depacketize-aac.js';
import { AudioFrameDepacketizer } from '../../rtp/depacketize-audio.js';
import { H264Depacketizer } from '../../rtp/depacketize-h264.js';
import { H265Depacketizer } from '../../rtp/depacketize-h265.js';
import { MetadataDepacketizer } from '../../rtp/depacketize-metadata.js';
import type { Depacketizer } from '../../rtp/depacketizer.js';
import { TrackReceiver, type TrackReceiverDeps } from '../../rtp/receiver.js';
import { aacFramingOf, hasDonl, spropNalsOf } from '../../rtsp/media-format.js';
import type { MediaDescription } from '../../rtsp/sdp.js';
import { AudioTrack } from './audio-track.js';
import type { MediaChoice } from './choose-medias.js';
import { MetadataTime } from './metadata-time.js';
import { type MetadataListener, MetadataTrack } from './metadata-track.js';
import { RingTally } from './ring-tally.js';
import type { StreamTime, TrackTime } from './stream-time.js';
import { VideoTrack } from './video-track.js';

type ReceptionDeps = {
  readonly clock: Clock;
  readonly ring: RingWriter;
  readonly time: StreamTime;
  readonly transport: 'tcp' | 'udp';
  /** A track's first packet came. */
  readonly onFirstPacket: () => void;
  readonly analytics: MetadataListener;
};

/** One media of the session: what its packets go through before they are frames in the ring. */
type Track = {
  readonly receiver: TrackReceiver;
  readonly depacketizer: Depacketizer;
  /** Told of the arrival of each packet, which becomes that of its frame. */
  readonly arrival: { arrivalMs: MonotonicMs };
};

/** RFC 3550 §6.5.1 wants a name that tells participants apart, not who they are. */
const CNAME = 'framering';

/** The receiving side of one session, from RTP packets to frames in the ring. */
export class Reception {
  readonly video: VideoTrack;
  readonly #deps: ReceptionDeps;
  /** In the order in which their medias are set up. */
  readonly #tracks: readonly Track[];
  readonly #audio: AudioTrack | null;
  readonly #metadata: (Track & { arrival: MetadataTrack }) | null;
  readonly #tally: RingTally;

  constructor(choice: MediaChoice, deps: ReceptionDeps) {
    this.#deps = deps;
    this.#tally = new RingTally(deps.ring);
    const audioTime = choice.audio === null ? null : deps.time.audio(choice.audio.info.clockRateHz);
    const alignment = deps.time.beginSession(audioTime);
    const audio =
      choice.audio === null || audioTime === null
        ? null
        : createAudio(choice.audio, audioTime, deps, (wallMs, rtp) => alignment?.onAudioReport(wallMs, rtp));
    const { metadata } = choice;
    const metadataTime = metadata === null ? null : new MetadataTime(metadata.clockRateHz, deps.time.video);
    const video = createVideo(choice, audio?.arrival ?? null, deps, (wallMs, rtp) => {
      alignment?.onVideoReport(wallMs, rtp);
      metadataTime?.onVideoReport(wallMs, rtp);
    });
    this.video = video.arrival;
    this.#audio = audio?.arrival ?? null;
    this.#metadata =
      metadata === null || metadataTime === null
        ? null
        : createMetadata(metadata, metadataTime, video.arrival, deps);
    this.#tracks = [video, audio, this.#metadata].filter((track) => track !== null);
  }

  onRtp(trackIndex: number, buffer: Buffer, start: number, end: number, arrivalMs: MonotonicMs): void {
    const track = this.#tracks[trackIndex];
    if (track === undefined) return;
    track.arrival.arrivalMs = arrivalMs;
    track.receiver.onRtp(buffer, start, end, arrivalMs);
  }

  onRtcp(trackIndex: number, buffer: Buffer, start: number, end: number, arrivalMs: MonotonicMs): void {
    this.#tracks[trackIndex]?.receiver.onRtcp(buffer, start, end, arrivalMs);
  }

  /** Gives up packets that are overdue (UDP). */
  flush(nowMs: MonotonicMs): void {
    for (const { receiver } of this.#tracks) receiver.flush(nowMs);
  }

  /** Calls back with the receiver report of each track, in `buffer[0, end)`. */
  writeReports(buffer: Buffer, nowMs: MonotonicMs, write: (trackIndex: number, end: number) => void): void {
    for (const [index, { receiver }] of this.#tracks.entries())
      write(index, receiver.writeReceiverReport(buffer, nowMs));
  }

  /** Adds what was counted since the last call to the counters in the ring's header. */
  publishCounters(): void {
    let [packets, lost, late, duplicate, foreign, malformed, damaged, oversized] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (const { receiver, depacketizer } of this.#tracks) {
      const { counters } = receiver;
      packets += counters.packets;
      lost += counters.lost;
      late += counters.late;
      duplicate += counters.duplicates;
      foreign += counters.foreign + counters.strays;
      malformed += counters.malformed + depacketizer.counters.malformedPackets;
      // Documents are no frames.
      if (depacketizer === this.#metadata?.depacketizer) continue;
      damaged += depacketizer.counters.damagedFrames;
      oversized += depacketizer.counters.oversizedFrames;
    }
    this.#tally.tell('packets', packets);
    this.#tally.tell('packetsLost', lost);
    this.#tally.tell('packetsLate', late);
    this.#tally.tell('packetsDuplicate', duplicate);
    this.#tally.tell('packetsForeign', foreign);
    this.#tally.tell('malformedPackets', malformed);
    this.#tally.tell('damagedFrames', damaged);
    this.#tally.tell('oversizedFrames', oversized);
    this.#tellMetadata();
    this.#tally.tell('undecodableFrames', this.video.undecodableFrames);
    this.#tally.tell('rtpJumps', this.video.jumps);
    this.#tally.tell('wallSteps', this.video.wallSteps);
  }

  #tellMetadata(): void {
    if (this.#metadata === null) return;
    const { documents, refused, objects } = this.#metadata.arrival.counters;
    const { damagedFrames, oversizedFrames } = this.#metadata.depacketizer.counters;
    this.#tally.tell('metadataDocuments', documents + damagedFrames + oversizedFrames);
    this.#tally.tell('metadataRefused', refused + damagedFrames + oversizedFrames);
    this.#tally.tell('metadataObjects', objects);
  }

  /** Forgets what is half-assembled; nothing is written to the ring after this. */
  end(): void {
    for (const { depacketizer } of this.#tracks) depacketizer.reset();
    this.#audio?.end();
    this.#deps.ring.abort();
    this.video.end();
    this.publishCounters();
  }
}

type OnSenderReport = (wallMs: WallMs, rtpTimestamp: number) => void;

const createVideo = (
  { video }: MediaChoice,
  audio: AudioTrack | null,
  deps: ReceptionDeps,
  onReport: OnSenderReport,
): Track & { arrival: VideoTrack } => {
  const time = deps.time.video;
  let depacketizer: H264Depacketizer | H265Depacketizer;
  const track = new VideoTrack(
    { codec: video.codec, audio },
    { clock: deps.clock, ring: deps.ring, time, isDamaged: () => depacketizer.damagedSinceLastCommit },
  );
  depacketizer =
    video.codec === 'h264'
      ? new H264Depacketizer(track)
      : new H265Depacketizer({ donl: hasDonl(video.media) }, track);
  for (const nal of spropNalsOf(video.media)) track.onParameterSet(nal, 0, nal.length);
  return {
    receiver: createReceiver(video.media, time, depacketizer, deps, onReport),
    depacketizer,
    arrival: track,
  };
};

const createAudio = (
  { media, info }: NonNullable<MediaChoice['audio']>,
  time: TrackTime,
  deps: ReceptionDeps,
  onReport: OnSenderReport,
): Track & { arrival: AudioTrack } => {
  const track = new AudioTrack(info, { clock: deps.clock, ring: deps.ring, time });
  const framing = aacFramingOf(media);
  const depacketizer =
    info.codec === 'aac'
      ? new AacDepacketizer(
          {
            sizeLength: framing.sizeBits,
            indexLength: framing.indexBits,
            indexDeltaLength: framing.indexDeltaBits,
            ticksPerFrame: framing.ticksPerFrame,
          },
          track,
        )
      : new AudioFrameDepacketizer(track);
  return {
    receiver: createReceiver(media, time, depacketizer, deps, onReport),
    depacketizer,
    arrival: track,
  };
};

const createMetadata = (
  media: MediaDescription,
  time: MetadataTime,
  video: VideoTrack,
  deps: ReceptionDeps,
): Track & { arrival: MetadataTrack } => {
  const track = new MetadataTrack({
    time,
    wallMsAt: (nowMs) => video.wallMsAt(nowMs),
    listener: deps.analytics,
  });
  const depacketizer = new MetadataDepacketizer({ maxBytes: MAX_DOCUMENT_BYTES }, track);
  const { transport, onFirstPacket } = deps;
  const { payloadType, clockRateHz } = media;
  const receiver = new TrackReceiver(
    { transport, payloadType, clockRateHz, ownSsrc: randomInt(2 ** 32), cname: CNAME },
    {
      depacketizer,
      onFirstPacket,
      onSourceChange: () => time.onMetadataSource(),
      onSenderReport: (wallMs, rtpTimestamp) => time.onMetadataReport(wallMs, rtpTimestamp),
    },
  );
  return { receiver, depacketizer, arrival: track };
};

const createReceiver = (
  media: MediaDescription,
  { timeline, wall }: TrackTime,
  depacketizer: Depacketizer,
  { clock, transport, onFirstPacket }: ReceptionDeps,
  onReport: OnSenderReport,
): TrackReceiver => {
  const { payloadType, clockRateHz } = media;
  const deps: TrackReceiverDeps = {
    depacketizer,
    onFirstPacket,
    onSourceChange: () => timeline.sourceChanged(),
    onSenderReport: (wallMs, rtpTimestamp, arrivalMs) => {
      const ptsTicks = timeline.ticksAt(rtpTimestamp);
      if (ptsTicks !== null) wall.onSenderReport(ptsTicks, wallMs, arrivalMs, clock.wallMs());
      onReport(wallMs, rtpTimestamp);
    },
  };
  return new TrackReceiver(
    { transport, payloadType, clockRateHz, ownSsrc: randomInt(2 ** 32), cname: CNAME },
    deps,
  );
};
