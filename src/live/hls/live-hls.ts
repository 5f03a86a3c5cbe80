import type { Clock, Timer } from '../../base/clock.js';
import { messageOf } from '../../base/errors.js';
import type { Logger } from '../../base/log.js';
import { fairCeiling } from '../../ring/ceiling.js';
import { cameraIdOf, type StreamName, sourceFields } from '../../ring/source-key.js';
import type { CameraFeeds } from '../feeds.js';
import type { LiveOutput } from '../live-output.js';
import { Channel, hlsError } from './channel.js';
import { masterPlaylist } from './master-playlist.js';
import { type FileName, parseName } from './names.js';
import { addressSuffix } from './playlists.js';
import type { Segment } from './segment.js';
import { type Remarks, subtitleFile } from './subtitles.js';
import { TsMaker } from './ts-maker.js';
import { LEAST_WINDOW_BYTES, Numbers } from './window.js';

/** Parts are looked for this often while somebody plays them. */
const PARTS_BEAT_MS = 10;
/** The beat while nobody does. */
const BEAT_MS = 50;
/** Whole segments are looked for this often, cameras in turn. */
const TURN_MS = 200;
/** How often cameras are asked for that are to be cut whether somebody asks or not. */
const ALWAYS_ON_EVERY_MS = 1_000;
const NO_ROOM_RETRY_SEC = 10;

export type LiveHlsDeps = {
  readonly clock: Clock;
  readonly log: Logger;
  readonly feeds: CameraFeeds;
  /** The cameras that are cut all the time (`lazy_hls` off). */
  readonly alwaysOn: () => readonly string[];
  /** What the subtitles say. */
  readonly remarks?: Remarks;
  /** For the segments of all cameras together; without it they keep what they are meant to. */
  readonly memoryBytes?: number;
};

/** Who asks: what is told apart as one viewer, and what goes into the addresses that it is given. */
export type HlsViewer = {
  readonly session: string | null;
  readonly clientAddress: string;
  /** As the viewer named it: without a sub-stream, both names mean the main one. */
  readonly stream: StreamName;
};

/** What a player of parts wants to wait for: `_HLS_msn` and `_HLS_part`. */
export type BlockingReload = { readonly segment: number; readonly part: number | null };

/** In pieces, as they lie in memory: all who ask are sent the same. */
export type HlsFile = { readonly contentType: string; readonly pieces: readonly Buffer[] };

/** Live HLS of all cameras: one window of frames a camera, shown as MPEG-TS and as low-latency fMP4. */
export class LiveHls implements LiveOutput {
  readonly kind = 'hls';
  readonly #deps: LiveHlsDeps;
  readonly #tsMaker = new TsMaker();
  readonly #channels = new Map<string, Channel>();
  /** Beyond all numbers of cameras that are gone: one that comes back goes on from here. */
  readonly #spent: Numbers;
  #alwaysOn: ReadonlySet<string> = new Set();
  readonly #keeper: Timer;
  #beat: Timer | null = null;
  #beatMs = BEAT_MS;
  #beats = 0;

  constructor(deps: LiveHlsDeps) {
    this.#deps = deps;
    this.#spent = new Numbers(deps.clock.wallMs());
    this.#keeper = deps.clock.every(ALWAYS_ON_EVERY_MS, () => this.#keepAwake());
  }

  /** `index.m3u8`, once there is something to play. Throws `not_found` or `no_picture`, as all that follow. */
  async master(source: string, viewer: HlsViewer): Promise<string> {
    const window = await this.#ask(source, viewer, 'beside').ready();
    return masterPlaylist(window, addressSuffix(viewer.session, viewer.stream));
  }

  /** `stream.m3u8`. */
  async video(source: string, viewer: HlsViewer): Promise<string> {
    const channel = this.#ask(source, viewer, 'ts');
    return channel.texts.video.of(await channel.readyToPlay(), addressSuffix(viewer.session, viewer.stream));
  }

  /** `subs.m3u8`. */
  async subtitles(source: string, viewer: HlsViewer): Promise<string> {
    const channel = this.#ask(source, viewer, 'beside');
    const window = await channel.readyToPlay();
    return channel.texts.subtitles.of(window, addressSuffix(viewer.session, viewer.stream));
  }

  /**
   * `ll.m3u8`; `wanted`: not before that is in it. Throws `bad_request` if that is too far ahead. `isDelta`: the viewer
   * has read it lately (`_HLS_skip`).
   */
  async lowLatency(
    source: string,
    viewer: HlsViewer,
    wanted: BlockingReload | null,
    isDelta = false,
  ): Promise<string> {
    const channel = this.#ask(source, viewer, 'parts');
    const window = await channel.readyFor(wanted);
    const text = isDelta ? channel.texts.delta : channel.texts.parts;
    return text.of(window, addressSuffix(viewer.session, viewer.stream));
  }

  /** Whatever the playlists name. A camera that rests has no files, and is not woken. */
  async file(source: string, name: string, viewer: HlsViewer): Promise<HlsFile> {
    const file = parseName(name);
    const channel = this.#channels.get(source);
    if (file === null || channel === undefined || !channel.isAwake)
      throw hlsError('not_found', `there is no file ${name}`);
    channel.note(keyOf(viewer, kindOf(file)));
    switch (file.kind) {
      case 'ts':
        return { contentType: 'video/mp2t', pieces: [channel.ts(file.segment)] };
      case 'subtitles':
        return {
          contentType: 'text/vtt; charset=utf-8',
          pieces: [Buffer.from(this.#subtitles(source, channel.whole(file.segment)))],
        };
      case 'mp4': {
        const { parts } = channel.whole(file.segment);
        return { contentType: 'video/mp4', pieces: parts.map(({ bytes }) => bytes) };
      }
      case 'part': {
        const part = channel.part(file.segment, file.part);
        return { contentType: 'video/mp4', pieces: [Buffer.isBuffer(part) ? part : await part] };
      }
      case 'init':
        return { contentType: 'video/mp4', pieces: [channel.init(file.version)] };
    }
  }

  /** Players that have asked for something lately. */
  viewers(source: string): number {
    return this.#channels.get(source)?.viewers() ?? 0;
  }

  /** Video frames that were overwritten before they were cut. */
  droppedFrames(source: string): number {
    return this.#channels.get(source)?.droppedFrames ?? 0;
  }

  /** The camera is deleted: its segments go, and whoever waits for one is told. */
  closeCamera(source: string): void {
    const channel = this.#channels.get(source);
    if (channel === undefined) return;
    this.#channels.delete(source);
    this.#spent.follow(channel.numbers);
    channel.rest();
  }

  stop(): void {
    this.#keeper.cancel();
    this.#beat?.cancel();
    this.#beat = null;
    for (const channel of this.#channels.values()) channel.rest();
    this.#channels.clear();
  }

  #subtitles(source: string, segment: Segment): string {
    return subtitleFile(segment, cameraIdOf(source), this.#deps.remarks ?? (() => []));
  }

  #ask(source: string, viewer: HlsViewer, kind: PlayedKind): Channel {
    const channel = this.#channel(source);
    channel.note(keyOf(viewer, kind));
    this.#wake(channel);
    return channel;
  }

  #channel(source: string): Channel {
    const known = this.#channels.get(source);
    if (known !== undefined) return known;
    const { clock, log, feeds } = this.#deps;
    const numbers = new Numbers(clock.wallMs());
    numbers.follow(this.#spent);
    const onGone = (): void => this.closeCamera(source);
    const channel = new Channel(source, numbers, { clock, log, feeds, tsMaker: this.#tsMaker, onGone });
    this.#channels.set(source, channel);
    return channel;
  }

  /** Throws `no_picture` where there is no memory for another camera, though those that nobody plays give way. */
  #wake(channel: Channel): void {
    for (let idle: Channel | undefined; !channel.isAwake && !this.#hasRoom; idle.rest()) {
      idle = [...this.#channels.values()].find((other) => other.isAwake && other.isIdle);
      if (idle === undefined) throw noRoom();
    }
    this.#begin(channel);
  }

  /** Whether there is memory for one more camera. */
  get #hasRoom(): boolean {
    const { memoryBytes = Number.POSITIVE_INFINITY } = this.#deps;
    let bytes = channelBytes(null);
    for (const channel of this.#channels.values()) if (channel.isAwake) bytes += channelBytes(channel);
    return bytes <= memoryBytes;
  }

  /** Gives each camera its share of the memory. */
  #share(): void {
    const { memoryBytes = Number.POSITIVE_INFINITY } = this.#deps;
    const awake = [...this.#channels.values()].filter(({ isAwake }) => isAwake);
    const demands = awake.map(({ memory }) => memory.wantedBytes);
    const shareBytes = fairCeiling(demands, memoryBytes);
    for (const channel of awake) channel.share(shareBytes);
  }

  #begin(channel: Channel): void {
    channel.wake();
    if (!channel.isAwake) return;
    if (this.#beat === null) this.#startBeat(BEAT_MS);
  }

  #startBeat(beatMs: number): void {
    this.#beat?.cancel();
    this.#beatMs = beatMs;
    this.#beat = this.#deps.clock.every(beatMs, () => this.#onBeat());
  }

  #keepAwake(): void {
    this.#alwaysOn = new Set(this.#deps.alwaysOn());
    for (const source of this.#alwaysOn) {
      const channel = this.#channel(source);
      if (channel.isAwake || this.#hasRoom) this.#begin(channel);
    }
    this.#share();
  }

  #onBeat(): void {
    this.#beats += 1;
    const nowMs = this.#deps.clock.monotonicMs();
    const beatsATurn = TURN_MS / this.#beatMs;
    let index = 0;
    let awake = 0;
    let beatMs = BEAT_MS;
    for (const [source, channel] of this.#channels) {
      index += 1;
      if (!channel.isAwake) continue;
      awake += 1;
      const wantsParts = channel.wantsParts(nowMs);
      if (wantsParts) beatMs = PARTS_BEAT_MS;
      const isItsTurn = (this.#beats + index) % beatsATurn === 0;
      if (!isItsTurn && !wantsParts) continue;
      try {
        channel.turn(nowMs, !this.#alwaysOn.has(source));
      } catch (fault) {
        // One camera's trouble stays its own: it begins anew when somebody asks.
        this.#deps.log.error('live HLS of a camera failed', {
          ...sourceFields(source),
          fault: fault instanceof Error ? fault.stack : messageOf(fault),
        });
        channel.rest();
      }
    }
    if (awake > 0) {
      if (beatMs !== this.#beatMs) this.#startBeat(beatMs);
      return;
    }
    this.#beat?.cancel();
    this.#beat = null;
  }
}

/** Of a camera that begins, what is usual. */
const channelBytes = (channel: Channel | null): number => channel?.memory.leastBytes ?? LEAST_WINDOW_BYTES;

const noRoom = () =>
  hlsError('no_picture', 'too many cameras are played by HLS at once', { retryAfterSec: NO_ROOM_RETRY_SEC });

/** `beside`: what players of either kind read, too. */
type PlayedKind = 'ts' | 'parts' | 'beside';

const kindOf = ({ kind }: FileName): PlayedKind => {
  if (kind === 'subtitles') return 'beside';
  return kind === 'ts' ? 'ts' : 'parts';
};

/** One viewer is a viewing (`?session=`); without one an address, which plays one kind of stream. Null: it plays none. */
const keyOf = ({ session, clientAddress }: HlsViewer, kind: PlayedKind): string | null => {
  if (session !== null) return session;
  return kind === 'beside' ? null : `${clientAddress} ${kind}`;
};
