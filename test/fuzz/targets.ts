import type { Target } from './target.js';
import { codecTargets } from './targets/codec.js';
import { fileTargets } from './targets/files.js';
import { relayTargets } from './targets/relay.js';
import { rtpTargets } from './targets/rtp.js';
import { rtspTargets } from './targets/rtsp.js';
import { webTargets } from './targets/web.js';
import { webrtcTargets } from './targets/webrtc.js';
import { xmlTargets } from './targets/xml.js';

/** Each parser that outside bytes reach, by the name that it is fuzzed by. */
export const targets: Readonly<Record<string, Target>> = {
  ...rtspTargets,
  ...rtpTargets,
  ...relayTargets,
  ...codecTargets,
  ...fileTargets,
  ...xmlTargets,
  ...webTargets,
  ...webrtcTargets,
};
