import { type ConfigMessage, type FrameMessage, readMessage } from '../player/messages.js';
import { api, call } from './session.js';
import type { CameraTestResult } from './types.js';

export type CameraTestRequest = {
  readonly url: string;
  readonly transport: 'tcp' | 'udp';
  /** The camera whose password a mask in the url stands for, and which of its addresses. */
  readonly id?: string;
  readonly stream?: 'main' | 'sub';
};

/** The service looks for 10 s, and begins when others are through. */
const TIMEOUT_MS = 40_000;

export const testCamera = (body: CameraTestRequest, signal?: AbortSignal): Promise<CameraTestResult> =>
  api('POST', '/api/cameras/test', {
    body,
    timeoutMs: TIMEOUT_MS,
    ...(signal === undefined ? {} : { signal }),
  });

export type SeenPicture = { readonly config: ConfigMessage; readonly frame: FrameMessage };

const LENGTH_BYTES = 4;

/** The first keyframe that a test saw, and how it is decoded; null: there is none. Can be asked for once. */
export const seenPicture = async (testId: string): Promise<SeenPicture | null> => {
  const answer = await call('GET', `/api/cameras/test/${encodeURIComponent(testId)}/frames`);
  const bytes = new Uint8Array(await answer.arrayBuffer());
  const view = new DataView(bytes.buffer);
  let config: ConfigMessage | null = null;
  for (let at = 0; at + LENGTH_BYTES <= bytes.length; ) {
    const end = at + LENGTH_BYTES + view.getUint32(at);
    const message = readMessage(bytes.subarray(at + LENGTH_BYTES, end));
    if (message?.kind === 'config' && message.height > 0) config = message;
    if (message?.kind === 'frame' && message.isKey && config?.stream === message.stream)
      return { config, frame: message };
    at = end;
  }
  return null;
};
