import { sourceKey } from '../ring/source-key.js';
import type { Camera as StoredCamera } from '../store/cameras.js';
import { withoutPasswords } from './camera-url.js';
import { StreamGauge } from './stream-gauge.js';

/** What the registry keeps of a camera. */
export type Entry = {
  stored: StoredCamera;
  /** The same for whoever may not read its passwords. */
  masked: StoredCamera;
  readonly subKey: string;
  readonly gauge: StreamGauge;
  readonly subGauge: StreamGauge;
  receivedBytes: number;
};

export const entryOf = (stored: StoredCamera): Entry => ({
  stored,
  masked: withoutPasswords(stored),
  subKey: sourceKey(stored.id, 'sub'),
  gauge: new StreamGauge(),
  subGauge: new StreamGauge(),
  receivedBytes: 0,
});
