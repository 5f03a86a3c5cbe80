import { z } from 'zod';
import type { Change } from '../../base/change.js';
import { changedNames } from '../changed-names.js';
import { withoutAbsent } from '../optional.js';
import { type Route, route } from '../route.js';

/** ECMA-402 alone knows which zones there are. */
const isTimeZone = (name: string): boolean => {
  try {
    // An offset such as +01:00 is none: it knows no summer.
    return /^[A-Za-z]/.test(name) && new Intl.DateTimeFormat('en', { timeZone: name }) !== null;
  } catch {
    return false;
  }
};

const timeZone = z
  .string()
  .max(64)
  .refine(
    (name) => name === '' || isTimeZone(name),
    'must be the name of a time zone such as Europe/Berlin, or empty',
  )
  .describe("the zone that times are shown in; empty: the machine's own");

const serviceSchema = z
  .strictObject({
    version: z.string(),
    time_zone: z.string().describe('the zone that times are shown in now'),
    https: z
      .strictObject({ self_signed: z.boolean(), fingerprint_sha256: z.string(), not_after: z.iso.datetime() })
      .nullable()
      .describe('the certificate that the service itself shows; null: it speaks plain http'),
    trust_proxy: z.boolean(),
    cors_origins: z.array(z.string()),
    log_level: z.string(),
    record_file_seconds: z.int(),
    storage_min_free_percent: z.int(),
    cameras_per_worker: z.union([z.int(), z.literal('auto')]),
    ring_memory_mb: z.int(),
    webrtc_udp_ports: z.strictObject({ first: z.int(), last: z.int() }),
    webrtc_public_ips: z.array(z.string()),
    max_connections: z.int(),
    max_connections_per_ip: z.int(),
    mqtt: z
      .strictObject({
        broker: z.string().describe('host and port'),
        prefix: z.string(),
        connected_since: z.iso.datetime().nullable().describe('null: it is not connected'),
        last_error: z.string().describe('why it is not, or was not last; empty where nothing failed'),
        waiting: z.int().describe('events that it is yet to be told of'),
        dropped: z.int().describe('events that were given up'),
      })
      .nullable()
      .describe('the broker that is told what happens; null: none'),
  })
  .meta({ id: 'ServiceFacts' });

export type ServiceFacts = z.infer<typeof serviceSchema>;

/** What an admin sets while the service runs, as a backup holds it. */
export const storedSettingsSchema = z.strictObject({ time_zone: timeZone }).meta({ id: 'StoredSettings' });

type Settings = z.infer<typeof storedSettingsSchema>;

export type SettingRoutesDeps = {
  readonly settings: { all(): Settings; update(changes: Partial<Settings>): Settings };
  readonly change: Change;
  /** How the service was started: nothing secret, and no paths. */
  readonly service: () => ServiceFacts;
};

export const settingsSchema = z
  .strictObject({ time_zone: timeZone, service: serviceSchema })
  .meta({ id: 'Settings' });

const changesSchema = z
  .strictObject({ time_zone: timeZone.optional(), service: z.unknown().optional().describe('is ignored') })
  .meta({ id: 'SettingsChanges' });

/** What can be set while the service runs; and, to be read alone, how it was started. */
export const settingRoutes = ({ settings, change, service }: SettingRoutesDeps): Route[] => [
  route({
    method: 'get',
    path: '/api/settings',
    access: 'settings.manage',
    summary: 'What is set; and, as `service`, what its environment said at the start',
    answers: { 200: { description: 'The settings', schema: settingsSchema } },
    handle: () => ({ status: 200, body: { ...settings.all(), service: service() } }),
  }),
  route({
    method: 'put',
    path: '/api/settings',
    access: 'settings.manage',
    audit: 'update_settings',
    summary: 'Change the fields that are sent',
    body: changesSchema,
    answers: { 200: { description: 'The settings', schema: settingsSchema } },
    problems: [503],
    handle: async ({ body: { service: _, ...changes }, note }) => {
      const present = withoutAbsent(changes);
      const before = settings.all();
      const after = await change(() => settings.update(present));
      note({ fields: changedNames(present, before, after) });
      return { status: 200, body: { ...after, service: service() } };
    },
  }),
];
