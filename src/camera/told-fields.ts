import type { RuntimeFields, SubFields } from './runtime-fields.js';

/**
 * Of each the place at which it is told, to boxes of other versions as well: what is new goes to the end, and none ever leaves its
 * place. Who has the camera, each box finds out by itself.
 */
const toldNames = [
  ...['state', 'fps', 'bitrate', 'codec', 'resolution', 'width', 'height', 'uptime_sec', 'traffic_used_mb'],
  ...['last_error', 'audio_codec', 'viewers', 'recording', 'record_error', 'dropped_frames'],
  ...['quirks_active', 'detect_error', 'ptz', 'sub', 'traffic_month'],
] as const satisfies readonly (Exclude<keyof RuntimeFields, 'owner'> | 'traffic_month')[];

const streamBefore = {
  ...{ state: 'connecting', last_error: '', codec: '', resolution: '' },
  ...{ fps: 0, bitrate: 0, width: 0, height: 0 },
} as const satisfies SubFields;

/** Of a camera of which nothing is told. */
const nothingTold: RuntimeFields = {
  ...streamBefore,
  ...{ uptime_sec: 0, traffic_used_mb: 0, audio_codec: '', viewers: 0, recording: false, record_error: '' },
  ...{ dropped_frames: 0, quirks_active: [], detect_error: '', ptz: false, sub: null, owner: '' },
};

const STATES: ReadonlySet<unknown> = new Set([
  ...['connecting', 'streaming', 'reconnecting', 'error'],
  ...['disabled', 'traffic_limited', 'standby'],
]);

const isLike = (value: unknown, example: unknown): boolean =>
  typeof value === typeof example && (typeof value !== 'number' || Number.isFinite(value));

const subOf = (value: unknown): SubFields | null => {
  if (typeof value !== 'object' || value === null) return null;
  const told = value as Partial<Record<keyof SubFields, unknown>>;
  if (!STATES.has(told.state)) return null;
  const entries = Object.entries(streamBefore).map(([name, example]) => {
    const field = told[name as keyof SubFields];
    return [name, isLike(field, example) ? field : example];
  });
  return Object.fromEntries(entries) as SubFields;
};

/** What is told of a camera to the other boxes: the values alone. */
export const toldFields = (runtime: RuntimeFields, month: string): readonly unknown[] =>
  toldNames.map((name) => (name === 'traffic_month' ? month : runtime[name]));

/** What came of it in which month; null: that isn't told. */
export const trafficTold = (told: unknown): { readonly month: string; readonly usedBytes: number } | null => {
  if (!Array.isArray(told)) return null;
  const usedMb: unknown = told[toldNames.indexOf('traffic_used_mb')];
  const month: unknown = told[toldNames.indexOf('traffic_month')];
  if (typeof month !== 'string' || typeof usedMb !== 'number' || !(usedMb >= 0 && usedMb < 1e12)) return null;
  return { month, usedBytes: usedMb * 1_000_000 };
};

/** And back; whatever is missing there or is something else is as before the first picture. */
export const fieldsTold = (told: unknown, owner: string): RuntimeFields => {
  const fields: Record<string, unknown> = { ...nothingTold, owner };
  if (!Array.isArray(told)) return fields as RuntimeFields;
  for (const [index, name] of toldNames.entries()) {
    if (name === 'traffic_month') continue;
    const value: unknown = told[index];
    if (name === 'sub') fields[name] = subOf(value);
    else if (name === 'quirks_active')
      fields[name] = Array.isArray(value) ? value.filter((quirk) => typeof quirk === 'string') : [];
    else if (name === 'state' ? STATES.has(value) : isLike(value, nothingTold[name])) fields[name] = value;
  }
  return fields as RuntimeFields;
};
