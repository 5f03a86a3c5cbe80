import { AppError } from '../base/errors.js';
import { planOfFrigate } from './frigate.js';
import { planOfGo2rtc } from './go2rtc.js';
import { planOfMediamtx } from './mediamtx.js';
import { parsePeerYaml } from './peer-yaml.js';
import type { Plan } from './plan.js';

/** Whose file it is shows by what it has. */
export const readPeer = (text: string): Plan => {
  const file = parsePeerYaml(text);
  if (Object.hasOwn(file, 'cameras')) return planOfFrigate(file);
  if (Object.hasOwn(file, 'paths')) return planOfMediamtx(file);
  if (Object.hasOwn(file, 'streams')) return planOfGo2rtc(file);
  throw new AppError('bad_file', 'has no paths (MediaMTX), streams (go2rtc) or cameras (Frigate)');
};
