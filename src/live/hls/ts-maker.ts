import { SegmentMuxer } from '../../mpegts/segment-muxer.js';
import { SAMPLE_FIELDS, type Segment, sampleField, sampleKind } from './segment.js';

/** Makes MPEG-TS of segments that somebody asks for; one for all cameras. */
export class TsMaker {
  readonly #muxer = new SegmentMuxer({ continuity: 'standalone' });

  /** The same bytes for the same segment, whenever it is made. */
  make(segment: Segment): Buffer {
    const { head, isDiscontinuity, ptsTicks } = segment.start;
    const muxer = this.#muxer;
    muxer.begin(head.info, { index: segment.number, discontinuity: isDiscontinuity });
    for (const { bytes, samples } of segment.parts) {
      for (let at = 0; at < samples.length; at += SAMPLE_FIELDS) this.#add(bytes, samples, at);
    }
    return Buffer.from(muxer.finish(ptsTicks + (segment.durationTicks ?? 0)).bytes);
  }

  #add(bytes: Buffer, samples: Float64Array, at: number): void {
    const start = samples[at + sampleField.start]!;
    const end = samples[at + sampleField.end]!;
    const ptsTicks = samples[at + sampleField.pts]!;
    const kind = samples[at + sampleField.kind]!;
    const muxer = this.#muxer;
    if (kind !== sampleKind.audio) {
      muxer.video(bytes, start, end, ptsTicks, samples[at + sampleField.dts]!, kind === sampleKind.key);
    } else if (muxer.hasAudio) muxer.audio(bytes, start, end, ptsTicks);
  }
}
