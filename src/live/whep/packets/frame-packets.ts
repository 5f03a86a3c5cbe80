import { beginsWithParameterSet, withLengths } from '../../../codec/nal.js';
import type { StreamInfo, VideoCodec } from '../../../codec/track.js';
import { PacketWriter, RTP_HEADER_BYTES } from '../../../rtp/packet-writer.js';
import { H264Packetizer } from '../../../rtp/packetize-h264.js';
import { H265Packetizer } from '../../../rtp/packetize-h265.js';
import { MAX_PACKET_BYTES } from '../secure/srtp-batch.js';
import type { PacketStore } from './packet-store.js';

/** What both packetizers do. */
type Packetizer = {
  packetize(source: Buffer, start: number, end: number, timestamp: number, marker?: boolean): void;
};

/** Cuts a camera's frames into packets, once for all of its viewers, right into the store. */
export class FramePackets {
  readonly codec: VideoCodec;
  readonly #store: PacketStore;
  readonly #writer: PacketWriter;
  readonly #packetizer: Packetizer;
  #info: StreamInfo | null = null;
  #parameterSets: Buffer = Buffer.alloc(0);

  constructor(codec: VideoCodec, store: PacketStore) {
    this.codec = codec;
    this.#store = store;
    const options = {
      payloadType: 0,
      ssrc: 0,
      firstSequence: 0,
      maxPayloadBytes: MAX_PACKET_BYTES - RTP_HEADER_BYTES,
    };
    this.#writer = new PacketWriter(options, store.bytes, store.writeStart, (bytes, start, end) => {
      store.push(end - start, bytes[start + 1]! >= 0x80);
      this.#writer.target = store.bytes;
      this.#writer.targetStart = store.writeStart;
    });
    this.#packetizer =
      codec === 'h264'
        ? new H264Packetizer({ aggregate: true, packetizationMode: 1 }, this.#writer)
        : new H265Packetizer({ aggregate: true, donl: false }, this.#writer);
  }

  /** Adds the frame in `source[0, end)`; a keyframe with the parameter sets that it needs before it. */
  add(source: Buffer, end: number, ticks: number, isKey: boolean, info: StreamInfo): void {
    if (info !== this.#info) {
      this.#info = info;
      this.#parameterSets = withLengths([...info.video.vps, ...info.video.sps, ...info.video.pps]);
    }
    this.#store.beginFrame(ticks, isKey);
    const sets = this.#parameterSets;
    const hasOwn = beginsWithParameterSet(this.codec, source, 0);
    if (isKey && !hasOwn) this.#packetizer.packetize(sets, 0, sets.length, 0, false);
    this.#packetizer.packetize(source, 0, end, 0);
  }
}
