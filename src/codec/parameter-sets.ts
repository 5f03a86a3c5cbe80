import { BitReader } from './bit-reader.js';
import { avcCodecString, hevcCodecString } from './codec-string.js';
import { type H264Sps, parseH264Pps, parseH264Sps } from './h264-sps.js';
import { type H265Sps, type H265Vps, parseH265Pps, parseH265Sps, parseH265Vps } from './h265-sps.js';
import { endWithoutZeros, H264_NAL, H265_NAL, nalTypeH264, nalTypeH265 } from './nal.js';
import { SetTable } from './set-table.js';
import type { VideoCodec, VideoTrackInfo } from './track.js';

type SetKind = 'VPS' | 'SPS' | 'PPS';

/** A camera's own are under 200 bytes; scaling lists can bring some hundred more. */
const MAX_SET_BYTES = 2048;

/** Cameras have one of each, odd ones a handful; the oldest makes room. */
const MAX_VPS = 4;
const MAX_SPS = 8;
const MAX_PPS = 32;

/**
 * The parameter sets of one stream, by id. Fed with whatever comes (SDP, in-band, at every keyframe), it says
 * whether anything is new, and sums them up for decoders and muxers. Broken ones are counted and kept out:
 * an SDP with junk must not spoil what the stream itself sends (quirk 7).
 */
export class ParameterSets {
  /** How many sets were kept out. */
  rejected = 0;
  /** Of each kind, why the last of them was. */
  readonly #faults = new Map<SetKind, string>();
  readonly #codec: VideoCodec;
  readonly #bits = new BitReader();
  readonly #vps = new SetTable<H265Vps>(MAX_VPS);
  readonly #sps = new SetTable<H264Sps | H265Sps>(MAX_SPS);
  readonly #pps = new SetTable<{ readonly id: number; readonly spsId: number }>(MAX_PPS);
  #info: VideoTrackInfo | null = null;

  constructor(codec: VideoCodec) {
    this.#codec = codec;
  }

  /**
   * Takes the NAL unit `buffer[start, end)`, without start code or length. True: it is a parameter set and
   * changed what we knew. Nothing is allocated, and nothing parsed, when it is already known.
   */
  offer(buffer: Uint8Array, start: number, end: number): boolean {
    const last = endWithoutZeros(buffer, start, end);
    if (last - start < 3) return false;
    const isNew =
      this.#codec === 'h264' ? this.#offerH264(buffer, start, last) : this.#offerH265(buffer, start, last);
    if (isNew) this.#info = null;
    return isNew;
  }

  /** Everything that decoders and muxers want; null until there is one set of each kind. */
  toVideoTrackInfo(): VideoTrackInfo | null {
    this.#info ??= this.#summarize();
    return this.#info;
  }

  /** What is missing for a decoder, for people to read; "" if nothing is. */
  lack(): string {
    const tables = [
      ['VPS', this.#codec === 'h264' ? null : this.#vps],
      ['SPS', this.#sps],
      ['PPS', this.#pps],
    ] as const;
    const missing = tables.find(([, table]) => table?.size === 0);
    if (missing === undefined) return '';
    const fault = this.#faults.get(missing[0]);
    return fault === undefined ? `no ${missing[0]} came` : `the ${missing[0]} can't be read (${fault})`;
  }

  #offerH264(buffer: Uint8Array, start: number, end: number): boolean {
    const nalType = nalTypeH264(buffer[start]!);
    if (nalType === H264_NAL.sps) return this.#put('SPS', this.#sps, parseH264Sps, buffer, start, end);
    if (nalType === H264_NAL.pps) return this.#put('PPS', this.#pps, parseH264Pps, buffer, start, end);
    return false;
  }

  #offerH265(buffer: Uint8Array, start: number, end: number): boolean {
    const nalType = nalTypeH265(buffer[start]!);
    const isBaseLayer = (buffer[start]! & 0x01) === 0 && buffer[start + 1]! < 8;
    if (!isBaseLayer) return false;
    if (nalType === H265_NAL.vps) return this.#put('VPS', this.#vps, parseH265Vps, buffer, start, end);
    if (nalType === H265_NAL.sps) return this.#put('SPS', this.#sps, parseH265Sps, buffer, start, end);
    if (nalType === H265_NAL.pps) return this.#put('PPS', this.#pps, parseH265Pps, buffer, start, end);
    return false;
  }

  #put<Facts extends { readonly id: number }>(
    kind: SetKind,
    table: SetTable<Facts>,
    parse: (buffer: Uint8Array, start: number, end: number, bits: BitReader) => Facts | null,
    buffer: Uint8Array,
    start: number,
    end: number,
  ): boolean {
    if (table.has(buffer, start, end)) return false;
    const isTooLarge = end - start > MAX_SET_BYTES;
    const facts = isTooLarge ? null : parse(buffer, start, end, this.#bits);
    if (facts === null) {
      this.rejected += 1;
      const why = isTooLarge ? `over ${MAX_SET_BYTES} bytes` : 'cut short, or nothing that a camera sends';
      this.#faults.set(kind, `${end - start} bytes: ${why}`);
      return false;
    }
    table.put(facts, buffer, start, end);
    return true;
  }

  #summarize(): VideoTrackInfo | null {
    const sps = this.#activeSps();
    const isComplete = this.#pps.size > 0 && (this.#codec === 'h264' || this.#vps.size > 0);
    if (sps === null || !isComplete) return null;
    return {
      codec: this.#codec,
      vps: this.#vps.inOrderOfId(),
      sps: this.#sps.inOrderOfId(),
      pps: this.#pps.inOrderOfId(),
      width: sps.width,
      height: sps.height,
      codecString: 'profile' in sps ? hevcCodecString(sps.profile) : avcCodecString(sps),
      frameRateHz: sps.frameRateHz ?? this.#vps.newest()?.frameRateHz ?? null,
      reorderDepth: sps.reorderDepth,
    };
  }

  /** The SPS that changed last and that a PPS leads to: an in-band one wins over one of the SDP with another id. */
  #activeSps(): H264Sps | H265Sps | null {
    return this.#sps.newest((sps) => this.#pps.some((pps) => pps.spsId === sps.id)) ?? this.#sps.newest();
  }
}
