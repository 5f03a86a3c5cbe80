import type { AudioTrackInfo } from '../../../codec/track.js';
import type { PacketWriter } from '../../../rtp/packet-writer.js';
import { packetizeAac, packetizeAudioFrame } from '../../../rtp/packetize-audio.js';
import { MAX_PAYLOAD_BYTES, type PacketArena, type Packets } from './packet-arena.js';
import { DEFAULT_CHANNEL } from './packet-batch.js';
import { payloadType } from './payload-type.js';
import { type RtpNumbers, rtpTime } from './rtp-numbers.js';

/** What the size field of AAC-hbr holds (RFC 3640 §3.3.6). */
const MAX_AAC_BYTES = 0x1fff;
/** An Opus packet is never cut (RFC 7587 §4.2): 120 ms of three frames at the highest rate fit. */
const MAX_OPUS_BYTES = 3 * 1275 + 7;

/** Makes the packets of a camera's sound. */
export class AudioPackets {
  readonly track: AudioTrackInfo;
  readonly #arena: PacketArena;
  readonly #numbers: RtpNumbers;
  readonly #writer: PacketWriter;

  constructor(track: AudioTrackInfo, arena: PacketArena, numbers: RtpNumbers) {
    this.track = track;
    this.#arena = arena;
    this.#numbers = numbers;
    const maxPayloadBytes = track.codec === 'opus' ? MAX_OPUS_BYTES : MAX_PAYLOAD_BYTES;
    this.#writer = arena.writer(DEFAULT_CHANNEL.audio, numbers.ssrc, numbers.firstSequence, maxPayloadBytes);
    this.#writer.payloadType = payloadType.audio(track);
  }

  get nextSequence(): number {
    return this.#writer.sequence;
  }

  /** The packets of the frame in `source[0, end)`, which is at `ticks` of the track's own clock; none if it fits none. */
  make(source: Buffer, end: number, ticks: number): Packets {
    this.#arena.begin(this.#writer);
    const { codec } = this.track;
    if (codec === 'aac') {
      if (end <= MAX_AAC_BYTES) packetizeAac(this.#writer, source, 0, end, rtpTime(this.#numbers, ticks));
    } else if (codec === 'opus') {
      if (end <= MAX_OPUS_BYTES)
        packetizeAudioFrame(this.#writer, source, 0, end, rtpTime(this.#numbers, ticks));
    } else {
      this.#cutSamples(source, end, ticks);
    }
    return this.#arena.take();
  }

  /** G.711 has a byte a sample and channel, L16 two: a long run is cut, each piece at its own time. */
  #cutSamples(source: Buffer, end: number, ticks: number): void {
    const { codec, channels } = this.track;
    const sampleBytes = (codec === 'l16' ? 2 : 1) * channels;
    const stepBytes = Math.floor(MAX_PAYLOAD_BYTES / sampleBytes) * sampleBytes;
    for (let at = 0; at < end; at += stepBytes) {
      const timestamp = rtpTime(this.#numbers, ticks + at / sampleBytes);
      packetizeAudioFrame(this.#writer, source, at, Math.min(at + stepBytes, end), timestamp);
    }
  }
}
