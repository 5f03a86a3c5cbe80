import { withoutAddresses } from '../without-addresses.js';

/** What is told of a camera as it is; never its address. */
export type CameraFacts = {
  readonly id: string;
  readonly state: string;
  /** "" where all is well; its address is left out. */
  readonly last_error: string;
  readonly codec: string;
  readonly resolution: string;
  readonly recording: boolean;
  readonly record_error: string;
  readonly fps: number;
  /** kbit/s. */
  readonly bitrate: number;
  readonly viewers: number;
};

/** What is so until something happens. */
export const statePayload = ({ fps: _f, bitrate: _b, viewers: _v, ...state }: CameraFacts): string =>
  JSON.stringify({ ...state, last_error: withoutAddresses(state.last_error) });

/** What is another all the time. */
export const figuresPayload = ({ fps, bitrate, viewers }: CameraFacts): string =>
  JSON.stringify({ fps, bitrate, viewers });
