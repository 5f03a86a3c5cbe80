import type { InterleavedIdPolicy } from './quirks.js';
import type { Pair } from './transport-header.js';

/** Whose RTP and RTCP an interleaved connection carries. */
export interface TrackHandler {
  onRtp(trackIndex: number, buffer: Buffer, start: number, end: number): void;
  onRtcp(trackIndex: number, buffer: Buffer, start: number, end: number): void;
}

const NOBODY = -1;
const RTP = 0;
const RTCP = 1;
/** A camera that answers `interleaved=0-0` sends both on one channel. */
const BOTH = 2;
const KINDS = 4;

/** RTCP among RTP: its packet types are where no RTP payload type with marker may be (RFC 5761 §4). */
const looksLikeRtcp = (buffer: Buffer, start: number, end: number): boolean => {
  const second = start + 1 < end ? buffer[start + 1]! : 0;
  return second >= 192 && second <= 223;
};

/** Which interleaved channel belongs to which track. */
export class ChannelMap {
  /** `track * KINDS + kind` by channel. */
  readonly #slots = new Int32Array(256).fill(NOBODY);

  /** Gives a track its channels (quirks 9, 13) and returns them. */
  assign(trackIndex: number, requested: Pair, replied: Pair | null, policy: InterleavedIdPolicy): Pair {
    const isFree = (channel: number): boolean => this.#slots[channel] === NOBODY;
    const useReply =
      policy === 'from_reply' && replied !== null && isFree(replied.rtp) && isFree(replied.rtcp);
    const pair = useReply ? replied : requested;
    if (pair.rtp === pair.rtcp) {
      this.#slots[pair.rtp] = trackIndex * KINDS + BOTH;
    } else {
      this.#slots[pair.rtp] = trackIndex * KINDS + RTP;
      this.#slots[pair.rtcp] = trackIndex * KINDS + RTCP;
    }
    return pair;
  }

  /** Hands a frame to its track. */
  dispatch(handler: TrackHandler, channel: number, buffer: Buffer, start: number, end: number): void {
    const slot = this.#slots[channel]!;
    if (slot === NOBODY) return;
    const trackIndex = slot >> 2;
    const kind = slot & 3;
    if (kind === RTP || (kind === BOTH && !looksLikeRtcp(buffer, start, end))) {
      handler.onRtp(trackIndex, buffer, start, end);
    } else {
      handler.onRtcp(trackIndex, buffer, start, end);
    }
  }
}
