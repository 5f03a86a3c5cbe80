import { beginsWithParameterSet, withLengths } from '../../../codec/nal.js';
import type { VideoCodec, VideoTrackInfo } from '../../../codec/track.js';
import type { PacketWriter } from '../../../rtp/packet-writer.js';
import { H264Packetizer } from '../../../rtp/packetize-h264.js';
import { H265Packetizer } from '../../../rtp/packetize-h265.js';
import { MAX_PAYLOAD_BYTES, type PacketArena, type Packets } from './packet-arena.js';
import { DEFAULT_CHANNEL } from './packet-batch.js';
import { payloadType } from './payload-type.js';
import { type RtpNumbers, rtpTime } from './rtp-numbers.js';

/** Makes the packets of a camera's pictures. Keyframes get their parameter sets: few players take new ones from SDP. */
export class VideoPackets {
  readonly codec: VideoCodec;
  readonly #arena: PacketArena;
  readonly #numbers: RtpNumbers;
  readonly #writer: PacketWriter;
  readonly #packetizer: H264Packetizer | H265Packetizer;
  #info: VideoTrackInfo | null = null;
  #parameterSets: Buffer = Buffer.alloc(0);

  constructor(codec: VideoCodec, arena: PacketArena, numbers: RtpNumbers) {
    this.codec = codec;
    this.#arena = arena;
    this.#numbers = numbers;
    this.#writer = arena.writer(
      DEFAULT_CHANNEL.video,
      numbers.ssrc,
      numbers.firstSequence,
      MAX_PAYLOAD_BYTES,
    );
    this.#writer.payloadType = payloadType.video;
    this.#packetizer =
      codec === 'h264'
        ? new H264Packetizer({ aggregate: true, packetizationMode: 1 }, this.#writer)
        : new H265Packetizer({ aggregate: true, donl: false }, this.#writer);
  }

  get nextSequence(): number {
    return this.#writer.sequence;
  }

  /** The packets of the frame in `source[0, end)`. */
  make(source: Buffer, end: number, ptsTicks: number, isKey: boolean, info: VideoTrackInfo): Packets {
    const timestamp = rtpTime(this.#numbers, ptsTicks);
    this.#arena.begin(this.#writer);
    if (isKey && !beginsWithParameterSet(this.codec, source, 0)) {
      const sets = this.#setsOf(info);
      this.#packetizer.packetize(sets, 0, sets.length, timestamp, false);
    }
    this.#packetizer.packetize(source, 0, end, timestamp);
    return this.#arena.take();
  }

  #setsOf(info: VideoTrackInfo): Buffer {
    if (info !== this.#info) this.#parameterSets = withLengths([...info.vps, ...info.sps, ...info.pps]);
    this.#info = info;
    return this.#parameterSets;
  }
}
