import { systemClock } from '../../../src/base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../../src/codec/track.js';
import type { VideoStream } from '../elementary-stream.js';
import { FRAME_NUMBERS } from '../frame-generator.js';
import type { Feed, Player, PlayerTrack } from './feed.js';
import { type FrameTemplate, frameTemplates, INTERLEAVED_BYTES } from './packet-template.js';
import type { MountTracks } from './sdp-writer.js';
import { TcpTransport } from './transport.js';

export type PumpOptions = {
  /** paced: each packet a send of its own, as real cameras do. burst: one send a frame. flood: no pace at all. */
  readonly pattern: 'paced' | 'burst' | 'flood';
  /** Least time between two packets of a camera when paced. */
  readonly packetGapMs?: number;
  /** The end of each frame tells its number and when its last packet was sent; see `writeStamp`. */
  readonly stampSendTime?: boolean;
  /** Whoever comes gets what others get at that moment, as of a real camera; else each session is one of its own. */
  readonly isLive?: boolean;
};

export type PumpCounters = {
  packets: number;
  bytes: number;
  frames: number;
  /** Frames that ended more than a frame's time after they should have begun. */
  lateFrames: number;
  maxLateMs: number;
  /** Frames left out because a reader didn't keep up. */
  skippedFrames: number;
};

/** One session's place in the stream that all share. */
class PumpPlace {
  readonly player: Player;
  readonly track: PlayerTrack;
  readonly tcp: TcpTransport | null;
  sequence: number;
  frame: number;
  /** Of all frames of the session, left out or not. */
  number = 0;
  packet = 0;
  /** Media time of the loop's start. */
  loopTicks = 0;
  frameDueMs: number;
  nextMs: number;
  isSkipping = false;
  isSilent = false;

  constructor(player: Player, track: PlayerTrack, frame: number, startMs: number) {
    this.player = player;
    this.track = track;
    this.tcp = track.transport instanceof TcpTransport ? track.transport : null;
    this.sequence = track.sequence;
    this.frame = frame;
    this.frameDueMs = startMs;
    this.nextMs = startMs;
  }
}

/** Sleeping for less isn't worth a wake-up: packets of several cameras go out together. */
const LEAST_SLEEP_MS = 0.25;
/** Requests wait for no longer than this. */
const MOST_SLEEP_MS = 2;
const FLOOD_FRAMES_PER_TURN = 8;
/** An irrational step spreads any number of cameras evenly over a frame's time. */
const GOLDEN = 0.618034;

/**
 * Sends one pre-packetised stream to hundreds of sessions, each as a camera of its own, from one loop with a
 * precise schedule: a timer per camera would cost more than the sending, and come a millisecond late.
 * The loop puts its thread to sleep for up to 2 ms at a time, so it wants a process of its own: see `main.ts`.
 */
export class Pump {
  readonly counters: PumpCounters = {
    packets: 0,
    bytes: 0,
    frames: 0,
    lateFrames: 0,
    maxLateMs: 0,
    skippedFrames: 0,
  };
  readonly stream: VideoStream;
  readonly #templates: readonly FrameTemplate[];
  readonly #options: PumpOptions;
  readonly #gapMs: number;
  readonly #frameMs: number;
  readonly #places: PumpPlace[] = [];
  readonly #sleeper = new Int32Array(new SharedArrayBuffer(4));
  #turn: NodeJS.Immediate | null = null;
  #joined = 0;
  readonly #beganMs = systemClock.monotonicMs();

  constructor(stream: VideoStream, options: PumpOptions) {
    this.stream = stream;
    this.#templates = frameTemplates(stream);
    if (options.stampSendTime === true && !this.#templates.every((template) => template.isStampable)) {
      throw new RangeError('a last packet is too small for the send time');
    }
    this.#options = options;
    this.#gapMs = options.packetGapMs ?? 0.2;
    this.#frameMs = 1000 / stream.frameRateHz;
  }

  /** A mount's feed: another camera with the same pictures. */
  feed(): PumpFeed {
    return new PumpFeed(this);
  }

  add(player: Player): void {
    const track = player.trackOf('video');
    if (track === null) return;
    // Cameras begin anywhere in their GOP, and don't send their frames at the same moment.
    if (this.#options.isLive === true) {
      this.#join(player, track);
      return;
    }
    const count = this.#joined;
    this.#joined += 1;
    const frame = (count * 37) % this.#templates.length;
    const startMs = systemClock.monotonicMs() + ((count * GOLDEN) % 1) * this.#frameMs;
    this.#places.push(new PumpPlace(player, track, frame, startMs));
    this.#turn ??= setImmediate(this.#run);
  }

  #join(player: Player, track: PlayerTrack): void {
    const number = Math.ceil((systemClock.monotonicMs() - this.#beganMs) / this.#frameMs);
    const startMs = this.#beganMs + number * this.#frameMs;
    const place = new PumpPlace(player, track, number % this.#templates.length, startMs);
    place.number = number;
    this.#places.push(place);
    this.#turn ??= setImmediate(this.#run);
  }

  /** A silent camera says nothing, and goes on with a keyframe: its time and its numbers don't stand still. */
  silence(player: Player, isSilent: boolean): void {
    for (const place of this.#places) if (place.player === player) place.isSilent = isSilent;
  }

  remove(player: Player): void {
    const at = this.#places.findIndex((place) => place.player === player);
    if (at >= 0) this.#places.splice(at, 1);
    if (this.#places.length > 0 || this.#turn === null) return;
    clearImmediate(this.#turn);
    this.#turn = null;
  }

  readonly #run = (): void => {
    this.#turn = setImmediate(this.#run);
    if (this.#options.pattern === 'flood') {
      this.#flood();
      return;
    }
    const nowMs = systemClock.monotonicMs();
    let nextMs = nowMs + MOST_SLEEP_MS;
    // From the end: a place may be removed while its packet is sent.
    for (let i = this.#places.length - 1; i >= 0; i -= 1) {
      const place = this.#places[i];
      if (place === undefined) continue;
      if (place.nextMs <= nowMs) {
        if (this.#options.pattern === 'paced') this.#sendPackets(place, nowMs);
        else this.#sendFrame(place);
      }
      if (place.nextMs < nextMs) nextMs = place.nextMs;
    }
    const leftMs = nextMs - systemClock.monotonicMs();
    if (leftMs > 0) Atomics.wait(this.#sleeper, 0, 0, Math.max(leftMs, LEAST_SLEEP_MS));
  };

  #flood(): void {
    for (const place of [...this.#places]) {
      for (let i = 0; i < FLOOD_FRAMES_PER_TURN && !place.player.isBacklogged; i += 1) this.#sendFrame(place);
    }
  }

  /** One packet; more where the machine had no time for us, so that a frame stays within its time. */
  #sendPackets(place: PumpPlace, nowMs: number): void {
    const hurryFromMs = nowMs - this.#frameMs / 2;
    do this.#sendPacket(place, nowMs);
    while (place.packet > 0 && place.frameDueMs < hurryFromMs);
  }

  #sendPacket(place: PumpPlace, nowMs: number): void {
    const template = this.#templates[place.frame]!;
    if (place.packet === 0 && this.#mustSkip(place)) {
      this.#nextFrame(place);
      return;
    }
    const index = place.packet;
    const isLast = index === template.packetCount - 1;
    this.#patch(place, template, index);
    if (isLast && this.#options.stampSendTime === true)
      template.stamp(place.number, systemClock.monotonicMs());
    this.#write(place, template, template.packets[index]!);
    place.packet += 1;
    if (isLast) this.#nextFrame(place);
    else place.nextMs = nowMs + this.#gapMs;
  }

  #sendFrame(place: PumpPlace): void {
    const template = this.#templates[place.frame]!;
    if (!this.#mustSkip(place)) {
      for (let index = 0; index < template.packetCount; index += 1) this.#patch(place, template, index);
      if (this.#options.stampSendTime === true) template.stamp(place.number, systemClock.monotonicMs());
      if (place.tcp !== null) this.#write(place, template, template.bytes);
      else for (const packet of template.packets) this.#write(place, template, packet);
    }
    this.#nextFrame(place);
  }

  /** A reader that doesn't keep up misses frames up to the next keyframe, as with a real camera. */
  #mustSkip(place: PumpPlace): boolean {
    if (place.isSilent) {
      place.isSkipping = true;
      return true;
    }
    const isKey = this.stream.frames[place.frame]!.isKey;
    if (place.isSkipping && isKey) place.isSkipping = false;
    if (place.player.isBacklogged) place.isSkipping = true;
    if (place.isSkipping) this.counters.skippedFrames += 1;
    return place.isSkipping;
  }

  #patch(place: PumpPlace, template: FrameTemplate, index: number): void {
    const timestamp = (place.loopTicks + template.offsetTicks) % 0x100000000;
    template.patch(index, place.tcp?.rtpChannel ?? 0, place.sequence, timestamp, place.track.ssrc);
    place.sequence = (place.sequence + 1) & 0xffff;
    this.counters.packets += 1;
  }

  #write(place: PumpPlace, template: FrameTemplate, bytes: Buffer): void {
    this.counters.bytes += bytes.length;
    const { tcp } = place;
    if (tcp === null) {
      place.track.transport.sendRtp(bytes.subarray(INTERLEAVED_BYTES));
    } else if (tcp.socket.writable) {
      tcp.socket.write(bytes);
      // What the kernel took is gone; what it didn't take must not be patched any more.
      if (tcp.socket.writableLength > 0) template.abandonBytes();
    }
  }

  #nextFrame(place: PumpPlace): void {
    this.counters.frames += 1;
    const nowMs = systemClock.monotonicMs();
    if (this.#options.pattern !== 'flood') {
      const lateMs = nowMs - place.frameDueMs;
      if (lateMs > this.#frameMs) this.counters.lateFrames += 1;
      if (lateMs > this.counters.maxLateMs) this.counters.maxLateMs = lateMs;
    }
    place.packet = 0;
    place.number = (place.number + 1) % FRAME_NUMBERS;
    place.frame += 1;
    if (place.frame === this.#templates.length) {
      place.frame = 0;
      place.loopTicks += (this.stream.durationTicks * VIDEO_CLOCK_HZ) / this.stream.clockRateHz;
    }
    place.frameDueMs += this.#frameMs;
    place.nextMs = Math.max(place.frameDueMs, nowMs + this.#gapMs);
  }
}

/** One camera of a pump. */
export class PumpFeed implements Feed {
  readonly tracks: MountTracks;
  readonly #pump: Pump;
  readonly #players = new Set<Player>();
  #isSilent = false;

  constructor(pump: Pump) {
    this.#pump = pump;
    this.tracks = { video: pump.stream, audio: null };
  }

  nextTicks(): number {
    return 0;
  }

  join(player: Player): void {
    this.#players.add(player);
    this.#pump.add(player);
    if (this.#isSilent) this.#pump.silence(player, true);
  }

  /** Those that play it get nothing, and neither does who comes meanwhile. */
  silence(isSilent: boolean): void {
    this.#isSilent = isSilent;
    for (const player of this.#players) this.#pump.silence(player, isSilent);
  }

  /** The connections of all that play it end. */
  disconnect(): void {
    for (const player of [...this.#players]) player.finish();
  }

  leave(player: Player): void {
    if (this.#players.delete(player)) this.#pump.remove(player);
  }

  close(): void {
    for (const player of [...this.#players]) this.leave(player);
  }
}
