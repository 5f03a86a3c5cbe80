/**
 * Where a video depacketizer puts the access unit that it is assembling. In production this is the camera's
 * ring itself, so that a frame's bytes are copied once, from the socket's buffer to where readers find them.
 *
 * What goes in: slices and SEI. What stays out, because every output adds its own or must not have it: access
 * unit delimiters, parameter sets (they travel in `onParameterSet`), filler, end of sequence and of stream.
 */
export interface VideoSink {
  /** Opens a NAL unit (its 4-byte big-endian length prefix is filled in by `endNal`). */
  beginNal(): void;
  /** Appends `source[start, end)` to the open NAL unit. False: the frame is over its limit and must be aborted. */
  append(source: Buffer, start: number, end: number): boolean;
  /** Closes the open NAL unit. */
  endNal(): void;
  /** Drops everything since the last commit. */
  abort(): void;
  /** The access unit is whole. `rtpTimestamp` is the 32-bit RTP time of its packets. */
  commit(rtpTimestamp: number, isKey: boolean): void;
  /** A parameter set, in place: valid during the call only. The sink compares it with what it has. */
  onParameterSet(source: Buffer, start: number, end: number): void;
}

/** Where an audio depacketizer puts its frames: whole ones, in place, valid during the call only. */
export interface AudioSink {
  /** `source[start, end)` is one AAC access unit, one Opus packet, or one run of G.711 or L16 samples. */
  frame(source: Buffer, start: number, end: number, rtpTimestamp: number): void;
}
