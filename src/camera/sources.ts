import { sourceKey } from '../ring/source-key.js';
import type { Camera as StoredCamera } from '../store/cameras.js';
import { hostOf } from './camera-url.js';
import type { CameraSettings } from './fleet/camera.js';

/** The sources of a camera, the main one first. What is not said of one of them alone is true of both. */
export const sourcesOf = (stored: StoredCamera, isTrafficLimited: boolean): CameraSettings[] => {
  const { id, url, sub_url, transport, quirks, disabled } = stored;
  const main = {
    id,
    source: { url, transport, quirks, wantsMetadata: true },
    host: hostOf(url),
    ...{ disabled, isTrafficLimited },
    isRecorded: stored.record,
    recordMode: stored.record_mode,
    isOnDemand: stored.on_demand,
  };
  if (sub_url === '') return [main];
  const sub = {
    ...main,
    id: sourceKey(id, 'sub'),
    // One track of what the camera sees is enough.
    source: { ...main.source, url: sub_url, wantsMetadata: false },
    host: hostOf(sub_url),
    isRecorded: false,
    isOnDemand: true,
  };
  return [main, sub];
};
