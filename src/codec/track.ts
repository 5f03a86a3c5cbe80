export type VideoCodec = 'h264' | 'h265';
/** L16 is PCM of 16 bits. FLAC is what recordings keep of that and of G.711: no camera sends it. */
export type AudioCodec = 'aac' | 'pcmu' | 'pcma' | 'l16' | 'opus' | 'flac';

/** All video tracks run on the 90 kHz clock (RFC 6184 §5.1, RFC 7798 §4.1). */
export const VIDEO_CLOCK_HZ = 90_000;

/**
 * What a decoder or a muxer has to know of the video. Parameter sets are whole NAL units, header byte(s)
 * included, without start code or length; all ids in use, in order of id.
 */
export type VideoTrackInfo = {
  readonly codec: VideoCodec;
  /** H.265 only; empty for H.264. */
  readonly vps: readonly Uint8Array[];
  readonly sps: readonly Uint8Array[];
  readonly pps: readonly Uint8Array[];
  /** The picture after cropping; 0 while a broken SPS hides it. */
  readonly width: number;
  readonly height: number;
  /** RFC 6381, as MSE and HLS want it: `avc1.64001f`, `hvc1.1.6.L93.B0`. */
  readonly codecString: string;
  /** Frames a second by the VUI timing, or null where the stream doesn't say. */
  readonly frameRateHz: number | null;
  /** Frames that can be held back for display order (0: no B-frames), or null where the stream doesn't say. */
  readonly reorderDepth: number | null;
};

export type AudioTrackInfo = {
  readonly codec: AudioCodec;
  readonly clockRateHz: number;
  readonly channels: number;
  /** AAC: the AudioSpecificConfig; FLAC: STREAMINFO; else empty. */
  readonly config: Uint8Array;
  /** RFC 6381: `mp4a.40.2`, `opus`, `fLaC`, `ulaw`, `alaw`, `twos`. */
  readonly codecString: string;
};

const isSameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, index) => byte === b[index]);

/** Whether pictures of one can follow those of the other, each behind its own parameter sets. */
export const isSamePicture = (a: VideoTrackInfo, b: VideoTrackInfo): boolean =>
  a.codec === b.codec && a.width === b.width && a.height === b.height;

/** Whether both are the same sound for a decoder, or none. */
export const isSameSound = (a: AudioTrackInfo | null, b: AudioTrackInfo | null): boolean => {
  if (a === null || b === null) return a === b;
  const isSameRate = a.clockRateHz === b.clockRateHz && a.channels === b.channels;
  return a.codec === b.codec && isSameRate && isSameBytes(a.config, b.config);
};

/** Everything of a camera's stream that isn't a frame. Replaced as a whole when any of it changes. */
export type StreamInfo = {
  readonly video: VideoTrackInfo;
  readonly audio: AudioTrackInfo | null;
};
