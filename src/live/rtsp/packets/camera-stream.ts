import type { Clock, MonotonicMs } from '../../../base/clock.js';
import { isSameSound, type StreamInfo, VIDEO_CLOCK_HZ } from '../../../codec/track.js';
import type { Bells } from '../../../ring/bells.js';
import { lastFramesOf } from '../../../ring/counters.js';
import { RingReader } from '../../../ring/reader.js';
import type { Document } from '../../documents.js';
import type { CameraFeed } from '../../feeds.js';
import type { Viewer } from '../send/viewer.js';
import { AudioPackets } from './audio-packets.js';
import { GopStore } from './gop-store.js';
import { MetadataPackets } from './metadata-packets.js';
import { PacketArena, type Packets } from './packet-arena.js';
import { PacketBatch, type Track, tracks } from './packet-batch.js';
import { ReportClock } from './report-clock.js';
import { rtpTime } from './rtp-numbers.js';
import { SentTrack } from './sender-reports.js';
import { type AxisMoment, StreamAxis } from './stream-axis.js';
import { VideoPackets } from './video-packets.js';

const FIRST_FRAME_BYTES = 256 << 10;
const REPORT_EVERY_MS = 5_000;
/** After this long without a picture a camera counts as lost: whoever comes then is shown none of what it left. */
const LIVE_WITHIN_MS = 10_000;

/** The numbers with which a viewer's packets begin (RFC 2326 §12.33). */
export type StartPoint = Readonly<Record<Track, { readonly sequence: number; readonly rtpTime: number }>>;

export type CameraStreamDeps = {
  readonly clock: Clock;
  readonly bells: Bells;
  /** What the camera's own analytics tell. */
  readonly documents: {
    has(): boolean;
    follow(listener: (document: Document) => void): () => void;
  };
  /** It can't go on as it was described: whoever has the description must ask anew. */
  readonly onUnfit: (reason: string) => void;
  /** A fault of our own that must end this stream's viewers, and nothing else. */
  readonly onFault: (fault: unknown) => void;
};

/** One stream of a camera with all its viewers: each frame is read once and cut into packets once, for all of them. */
export class CameraStream {
  readonly #deps: CameraStreamDeps;
  readonly #viewers = new Set<Viewer>();
  readonly #store = new GopStore();
  readonly #axis = new StreamAxis();
  readonly #arena = new PacketArena();
  readonly #reportClock = new ReportClock();
  readonly #sent = { video: new SentTrack(), audio: new SentTrack(), metadata: new SentTrack() };
  readonly #metadata = new MetadataPackets(this.#arena, this.#sent.metadata.numbers);
  /** What ends to follow the documents: somebody wants them. */
  #unfollowDocuments: (() => void) | null = null;
  #feed: CameraFeed | null = null;
  #reader: RingReader | null = null;
  #unlisten: () => void = () => {};
  #frame = Buffer.allocUnsafeSlow(FIRST_FRAME_BYTES);
  #info: StreamInfo | null = null;
  #video: VideoPackets | null = null;
  #audio: AudioPackets | null = null;
  /** Frames so far, those that were lost among them, and when the newest keyframe is shown. */
  #videoFrames = 0;
  #keyPtsTicks = 0;
  #reportedMs = 0;
  #endedDrops = 0;

  constructor(deps: CameraStreamDeps) {
    this.#deps = deps;
  }

  get viewers(): number {
    return this.#viewers.size;
  }

  /** Whether anybody is on the way from a keyframe to the live edge. */
  get hasCatchUps(): boolean {
    for (const viewer of this.#viewers) if (viewer.isCatchingUp) return true;
    return false;
  }

  /** Frames that viewers lost because they were slow. */
  get droppedFrames(): number {
    let frames = this.#endedDrops;
    for (const viewer of this.#viewers) frames += viewer.droppedFrames;
    return frames;
  }

  /** Where the frames are from now on. */
  moveTo(feed: CameraFeed): void {
    const isNewBell = feed.bell !== this.#feed?.bell;
    this.#feed = feed;
    if (isNewBell) {
      this.#unlisten();
      this.#unlisten = this.#deps.bells.listen(feed.bell, () => this.pump());
    }
    if (this.#reader === null) {
      this.#reader = new RingReader(feed.ring, { start: 'latest-key' });
      this.#reader.subscribe();
      return;
    }
    this.pump();
    // What it read last may have ended all viewings, and this with them.
    if (this.#reader === null) return;
    if (!this.#reader.moveTo(feed.ring)) this.#axis.restart();
  }

  /** What to tell a viewer; null: there is no live picture, or it isn't known yet whether there is sound. */
  describe(): StreamInfo | null {
    this.pump();
    // What is read begins with a keyframe, which may be gone by now: whoever comes then waits for the next one.
    if (this.#info === null || this.#isSilent) return null;
    if (this.#audio === null && this.#reader?.awaitsSound === true) return null;
    // Who is told of sound that has fallen silent would wait for it.
    const { video, audio } = this.#info;
    return { video, audio: audio === null ? null : (this.#audio?.track ?? null) };
  }

  get hasMetadata(): boolean {
    return this.#deps.documents.has();
  }

  ssrcOf(track: Track): number {
    return this.#sent[track].numbers.ssrc;
  }

  /** Where a viewer that comes now begins: the newest keyframe. Null: it waits for one. */
  startPoint(): { readonly batch: number; readonly numbers: StartPoint } | null {
    this.pump();
    const batch = this.#store.newestKey;
    const key = this.#store.at(batch);
    if (key === undefined || this.#isSilent) return null;
    const beginOf = (track: Track, nextSequence: number): StartPoint[Track] => ({
      sequence: this.#store.firstOf(track, batch)?.firstSequence ?? nextSequence,
      rtpTime: rtpTime(this.#sent[track].numbers, (this.#keyPtsTicks / VIDEO_CLOCK_HZ) * this.#rateOf(track)),
    });
    const numbers = {
      video: { sequence: key.firstSequence, rtpTime: key.timestamp },
      audio: beginOf('audio', this.#audio?.nextSequence ?? 0),
      metadata: beginOf('metadata', this.#metadata.nextSequence),
    };
    return { batch, numbers };
  }

  /** Begins to send: from a start point, or, without one, with the next keyframe. */
  add(viewer: Viewer, start: { readonly batch: number } | null): void {
    const nowMs = this.#deps.clock.monotonicMs();
    this.#viewers.add(viewer);
    if (viewer.way.carries('metadata'))
      this.#unfollowDocuments ??= this.#deps.documents.follow((document) => this.#takeDocument(document));
    // Before the first packet: recorders learn by it what time it is there.
    this.#reportTo([viewer], nowMs);
    if (start !== null) viewer.start(start.batch, this.#store, nowMs);
  }

  /** Sends nothing more; `isOver`: the viewer is told that this was the end. */
  remove(viewer: Viewer, isOver: boolean): void {
    if (!this.#viewers.delete(viewer)) return;
    this.#endedDrops += viewer.droppedFrames;
    viewer.way.close();
    if (![...this.#viewers].some(({ way }) => way.carries('metadata'))) this.#leaveDocuments();
    if (!isOver || this.#info === null) return;
    const moment = this.#moment(this.#deps.clock.monotonicMs());
    for (const track of tracks)
      if (viewer.way.carries(track))
        viewer.way.report(track, this.#sent[track].goodbye(this.#rateOf(track), moment));
  }

  /** Sends all that is new in the ring. */
  pump(): void {
    const reader = this.#reader;
    try {
      while (reader?.next()) {
        this.#take(reader);
        // A frame that doesn't fit ends it.
        if (this.#reader === null) return;
      }
    } catch (fault) {
      this.#deps.onFault(fault);
    }
  }

  /** Goes on with those who catch up; every few milliseconds while there are any. */
  catchUp(nowMs: MonotonicMs): void {
    for (const viewer of this.#viewers) if (viewer.isCatchingUp) viewer.catchUp(this.#store, nowMs);
  }

  /** Reports, and whoever takes nothing any more; several times a second. */
  tick(nowMs: MonotonicMs): void {
    if (nowMs - this.#reportedMs >= REPORT_EVERY_MS) {
      this.#reportedMs = nowMs;
      if (this.#info !== null) this.#reportClock.follow(this.#axis.at(nowMs));
      this.#reportTo(this.#viewers, nowMs);
    }
    for (const viewer of [...this.#viewers])
      if (viewer.isStalled(nowMs)) viewer.end('nothing was taken for 30 s');
  }

  /** Lets go of the ring; the viewers are ended by whoever owns them. */
  close(): void {
    this.#unlisten();
    this.#leaveDocuments();
    this.#reader?.unsubscribe();
    this.#reader = null;
  }

  #leaveDocuments(): void {
    this.#unfollowDocuments?.();
    this.#unfollowDocuments = null;
  }

  #take(reader: RingReader): void {
    if (reader.lengthBytes > this.#frame.length) this.#frame = Buffer.allocUnsafeSlow(reader.lengthBytes * 2);
    if (!reader.copyTo(this.#frame, 0)) return;
    const info = reader.streamInfo();
    if (info === null || !this.#isFit(info)) return;
    this.#info = info;
    if (reader.isVideo) this.#takeVideo(reader, info);
    else this.#takeAudio(reader);
  }

  /** Whether the frame is of the stream that was described; takes note of sound that comes late. */
  #isFit({ video, audio }: StreamInfo): boolean {
    if (this.#video !== null && this.#video.codec !== video.codec) {
      this.#deps.onUnfit('the camera sends another codec now');
      return false;
    }
    this.#video ??= new VideoPackets(video.codec, this.#arena, this.#sent.video.numbers);
    if (audio === null) return true;
    if (this.#audio !== null && !isSameSound(this.#audio.track, audio)) {
      this.#deps.onUnfit('the camera sends another sound now');
      return false;
    }
    this.#audio ??= new AudioPackets(audio, this.#arena, this.#sent.audio.numbers);
    return true;
  }

  #takeVideo(reader: RingReader, { video }: StreamInfo): void {
    const { isKey, lengthBytes, gapBefore } = reader;
    // Overwritten before they were read: lost to all viewers.
    this.#videoFrames += gapBefore;
    this.#axis.placeVideo(reader);
    const { ptsTicks } = this.#axis;
    const packets = this.#video?.make(this.#frame, lengthBytes, ptsTicks, isKey, video);
    if (isKey) this.#keyPtsTicks = ptsTicks;
    this.#deliver('video', isKey, packets);
    this.#videoFrames += 1;
  }

  #takeAudio(reader: RingReader): void {
    const ticks = this.#axis.placeAudio(reader.ptsTicks, this.#audioRateHz);
    this.#deliver('audio', false, this.#audio?.make(this.#frame, reader.lengthBytes, ticks));
  }

  /** Behind the frames that came before it. */
  #takeDocument({ bytes, wallMs }: Document): void {
    this.pump();
    if (this.#info === null || this.#reader === null) return;
    this.#deliver('metadata', false, this.#metadata.make(bytes, this.#axis.ticksAt(wallMs)));
  }

  #deliver(track: Track, isKey: boolean, packets: Packets | undefined): void {
    if (packets === undefined || packets.bytes.length === 0) return;
    const videoNumber = this.#videoFrames;
    const batch = new PacketBatch({ track, isKey, dueTicks: this.#axis.dtsTicks, videoNumber, ...packets });
    batch.hold();
    this.#sent[track].count(batch);
    const nowMs = this.#deps.clock.monotonicMs();
    let neededFrom = this.#store.next;
    for (const viewer of this.#viewers) neededFrom = Math.min(neededFrom, viewer.neededFrom);
    this.#store.add(batch, neededFrom);
    for (const viewer of this.#viewers) viewer.offer(batch, nowMs);
    batch.release();
  }

  #reportTo(viewers: Iterable<Viewer>, nowMs: MonotonicMs): void {
    if (this.#info === null) return;
    const moment = this.#moment(nowMs);
    for (const track of tracks) {
      const report = this.#sent[track].report(this.#rateOf(track), moment);
      for (const { way } of viewers) if (way.carries(track)) way.report(track, report);
    }
  }

  #moment(nowMs: MonotonicMs): AxisMoment {
    return this.#reportClock.told(this.#axis.at(nowMs));
  }

  /** Whether the camera has sent no picture for so long that it counts as lost. */
  get #isSilent(): boolean {
    const last = this.#feed === null ? null : lastFramesOf(this.#feed.ring);
    return last === null || this.#deps.clock.monotonicMs() - last.arrivalMs > LIVE_WITHIN_MS;
  }

  #rateOf(track: Track): number {
    return track === 'audio' ? this.#audioRateHz : VIDEO_CLOCK_HZ;
  }

  get #audioRateHz(): number {
    return this.#audio?.track.clockRateHz ?? VIDEO_CLOCK_HZ;
  }
}
