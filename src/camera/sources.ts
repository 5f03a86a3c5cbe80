import type { OtherBox } from '../relay/receive/pull.js';
import { sourceKey } from '../ring/source-key.js';
import type { Camera as StoredCamera } from '../store/cameras.js';
import { hostOf } from './camera-url.js';
import type { CameraSettings } from './fleet/camera.js';

/**
 * The sources of a camera, the main one first. What is not said of one of them alone is true of both. `owner` is the box that
 * connects it and does all else with it; null: this one.
 */
export const sourcesOf = (
  stored: StoredCamera,
  isTrafficLimited: boolean,
  owner: OtherBox | null,
): CameraSettings[] => {
  if (owner !== null) return relayedSourcesOf(stored, owner);
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

/** They are asked for when somebody wants them, and need no credentials of the camera. */
const relayedSourcesOf = ({ id, sub_url, disabled }: StoredCamera, from: OtherBox): CameraSettings[] => {
  const keys = sub_url === '' ? [id] : [id, sourceKey(id, 'sub')];
  return keys.map((key) => ({
    id: key,
    source: { url: '', transport: 'tcp', from },
    host: from.host,
    disabled,
    isRecorded: false,
    isOnDemand: true,
  }));
};
