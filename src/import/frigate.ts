import { sourceOf, sourcesOf } from './go2rtc.js';
import { type Fields, fieldsOf, isOn, listOf, merged, textOf } from './peer-yaml.js';
import { Plan, whyNotPulled } from './plan.js';

const DAYS = { days: null };
const OF_EVENTS = { retain: DAYS };
const SETTINGS = {
  record: {
    enabled: null,
    continuous: DAYS,
    motion: DAYS,
    retain: DAYS,
    alerts: OF_EVENTS,
    detections: OF_EVENTS,
  },
  detect: { enabled: null },
  objects: { track: null },
};
const DEFAULT_EVENT_DAYS = 10;

/** An address of Frigate's own go2rtc stands for that stream's source. */
const restreamOf = (path: string): string | undefined =>
  /^rtsp:\/\/(?:[^@/]*@)?(?:127\.0\.0\.1|localhost):8554\/([^/?#]+)/i.exec(path)?.[1];

type Input = { readonly url: string; readonly why: string | undefined; readonly roles: readonly unknown[] };

const inputOf = (input: Fields, streams: Fields): Input => {
  const path = textOf(input['path']);
  const roles = listOf(input['roles']);
  const name = restreamOf(path);
  if (name === undefined) return { url: path, why: whyNotPulled(path), roles };
  const sources = Object.hasOwn(streams, name) ? sourcesOf(streams[name]) : [];
  const { url, why } = sources.find((source) => source.why === undefined) ?? sources[0] ?? sourceOf('');
  return { url, why: sources.length === 0 ? 'is a stream of go2rtc that has no source here' : why, roles };
};

const daysOf = (value: unknown): number => Math.max(0, Math.ceil(Number(textOf(value)) || 0));

/** How long all is kept, and how long what lies around events; Frigate's 0 keeps nothing, ours for ever. */
const recordingOf = (record: Fields) => {
  if (!isOn(record['enabled'])) return { record: false };
  const daysIn = (part: unknown): unknown => fieldsOf(part)['days'];
  const all = Math.max(...['continuous', 'motion', 'retain'].map((kind) => daysOf(daysIn(record[kind]))));
  const ofEvents = ['alerts', 'detections'].map((kind) => daysIn(fieldsOf(record[kind])['retain']));
  const events = Math.max(...ofEvents.map((days) => daysOf(days ?? DEFAULT_EVENT_DAYS)));
  if (all > 0) return { record: true, retention_days: all, event_retention_days: events };
  return { record: true, record_mode: 'events' as const, retention_days: Math.max(1, events) };
};

/**
 * Whether objects are looked for where nothing is said: no since Frigate 0.16; it reads an older file, which is one
 * without a version too, as one that says yes.
 */
const isDetectingUnsaid = (file: Fields): boolean => {
  const [, minor] = /^0\.(\d{1,4})/.exec(textOf(file['version'] ?? '0.13')) ?? [];
  return minor !== undefined && Number(minor) < 16;
};

const leaveSettings = (plan: Plan, name: string, camera: Fields): void => {
  plan.leaveFields(name, camera, { ...SETTINGS, enabled: null, ffmpeg: { inputs: null } });
  for (const [index, input] of listOf(fieldsOf(camera['ffmpeg'])['inputs']).entries())
    plan.leaveFields(`${name}, input ${index + 1}`, fieldsOf(input), { path: null, roles: null });
};

/** Frigate: cameras with their main and smaller stream, how long recordings stay, and what is looked for. */
export const planOfFrigate = (file: Fields): Plan => {
  const plan = new Plan();
  const streams = fieldsOf(fieldsOf(file['go2rtc'])['streams']);
  plan.leaveFields('the file', file, {
    version: null,
    cameras: null,
    go2rtc: { streams: null },
    ...SETTINGS,
  });
  const used = new Set<string | undefined>();
  for (const [name, value] of Object.entries(fieldsOf(file['cameras']))) {
    const camera = fieldsOf(value);
    const part = (key: string): Fields => merged(fieldsOf(file[key]), fieldsOf(camera[key]));
    const written = listOf(fieldsOf(camera['ffmpeg'])['inputs']).map(fieldsOf);
    for (const { path } of written) used.add(restreamOf(textOf(path)));
    const inputs = written.map((input) => inputOf(input, streams));
    const main = inputs.find(({ roles }) => roles.includes('record')) ?? inputs[0];
    if (main === undefined || main.why !== undefined) {
      plan.leave(name, main?.why ?? 'has no input');
      continue;
    }
    const sub = inputs.find(({ url, roles }) => roles.includes('detect') && url !== main.url);
    for (const [index, input] of inputs.entries())
      if (input !== main && (input !== sub || input.why !== undefined))
        plan.leave(`${name}, input ${index + 1}`, input.why ?? 'a camera has two streams at most, each once');
    leaveSettings(plan, name, camera);
    const record = part('record');
    if (daysOf(fieldsOf(record['motion'])['days']) > 0) plan.leave(name, 'what has no motion is kept too');
    plan.add(name, {
      url: main.url,
      sub_url: sub === undefined || sub.why !== undefined ? '' : sub.url,
      disabled: camera['enabled'] !== undefined && !isOn(camera['enabled']),
      detect: isOn(part('detect')['enabled'] ?? isDetectingUnsaid(file)),
      detection: { labels: listOf(part('objects')['track'] ?? 'person').map(textOf) },
      ...recordingOf(record),
    });
  }
  for (const name of Object.keys(streams))
    if (!used.has(name)) plan.leave(`go2rtc, ${name}`, 'no camera has this stream');
  return plan;
};
