import { sourceKeysOf } from '../ring/source-key.js';
import type { QuirkName, Camera as StoredCamera } from '../store/cameras.js';
import { withoutPasswords } from './camera-url.js';
import { setQuirks } from './quirks.js';
import { StreamGauge } from './stream-gauge.js';

/** Of the second stream of all cameras that never had one: nothing comes to it. */
export const NO_STREAM = new StreamGauge();

/** What the registry keeps of a camera. */
export type Entry = {
  stored: StoredCamera;
  /** The same for whoever may not read its passwords. */
  masked: StoredCamera;
  /** Those of its settings that ask for something else than the default. */
  quirks: readonly QuirkName[];
  /** The keys of both streams that it may have. */
  readonly sources: readonly string[];
  readonly subKey: string;
  readonly gauge: StreamGauge;
  subGauge: StreamGauge;
  receivedBytes: number;
};

/** What follows from the settings alone, made where these change. */
export const ofSettings = (stored: StoredCamera): Pick<Entry, 'stored' | 'masked' | 'quirks'> => ({
  stored,
  masked: withoutPasswords(stored),
  quirks: setQuirks(stored.quirks),
});

export const entryOf = (stored: StoredCamera): Entry => {
  const { masked, quirks } = ofSettings(stored);
  const sources = sourceKeysOf(stored.id);
  // Spread here, each of thousands would have a shape of its own in V8.
  return {
    stored,
    masked,
    quirks,
    sources,
    subKey: sources[1]!,
    gauge: new StreamGauge(),
    subGauge: stored.sub_url === '' ? NO_STREAM : new StreamGauge(),
    receivedBytes: 0,
  };
};
