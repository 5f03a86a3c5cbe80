import fc from 'fast-check';
import type { ApiKeyRecord } from '../../src/store/api-keys.js';
import type { Camera } from '../../src/store/cameras.js';
import type { Folder } from '../../src/store/folders.js';
import type { Layout } from '../../src/store/layouts.js';
import type { Configuration } from '../../src/store/store.js';
import type { Tag } from '../../src/store/tags.js';
import { ROLES, type UserRecord } from '../../src/store/users.js';
import type { Webhook } from '../../src/store/webhooks.js';

/** A camera as it is after creation with nothing but an id and a URL. */
export const sampleCamera = (id: string, changes: Partial<Camera> = {}): Camera => ({
  id,
  url: `rtsp://user:pass@camera/${id}`,
  record: false,
  retention_days: 7,
  tags: [],
  folder_id: '',
  comment: '',
  sim_phone: '',
  sim_iccid: '',
  lazy_hls: true,
  transport: 'tcp',
  token_auth: false,
  traffic_limit: 0,
  disabled: false,
  detect: false,
  quirks: {},
  detection: {},
  sub_url: '',
  on_demand: false,
  record_mode: 'continuous',
  event_retention_days: 0,
  onvif: {},
  box: null,
  ...changes,
});

export const anyId = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,9}$/);
/** Plain objects only, as JSON makes them. */
const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record(fields, { noNullPrototype: true }) as fc.Arbitrary<T>;

const anyText = fc.string({ unit: 'grapheme', maxLength: 30 });
const anyIds = fc.uniqueArray(anyId, { maxLength: 5 });

export const anyCamera: fc.Arbitrary<Camera> = record<Camera>({
  id: anyId,
  url: anyText.map((text) => `rtsp://${text}`),
  record: fc.boolean(),
  retention_days: fc.nat(),
  tags: anyIds,
  folder_id: fc.oneof(fc.constant(''), anyId),
  comment: anyText,
  sim_phone: anyText,
  sim_iccid: anyText,
  lazy_hls: fc.boolean(),
  transport: fc.constantFrom('tcp', 'udp'),
  token_auth: fc.boolean(),
  traffic_limit: fc.maxSafeNat(),
  disabled: fc.boolean(),
  detect: fc.boolean(),
  quirks: fc.record(
    {
      user_agent: anyText,
      keepalive: fc.constantFrom('auto', 'none'),
      certificate: fc.constantFrom('any', 'verify'),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  detection: fc.record(
    {
      labels: fc.array(anyText, { maxLength: 3 }),
      min_score: fc.double({ min: 0, max: 1, noNaN: true }).map((score) => score + 0),
      zones: fc.array(
        fc.record(
          {
            name: anyText,
            kind: fc.constantFrom('include', 'exclude'),
            points: fc.constant([[0, 0.5] as const]),
          },
          { noNullPrototype: true },
        ),
        { maxLength: 2 },
      ),
      schedule: fc.constantFrom([], [{ days: ['sun', 'fri'] as const, from: '22:00', to: '06:00' }]),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
  sub_url: fc.oneof(
    fc.constant(''),
    anyText.map((text) => `rtsp://${text}`),
  ),
  on_demand: fc.boolean(),
  record_mode: fc.constantFrom('continuous', 'events'),
  event_retention_days: fc.nat(36_500),
  onvif: record<Required<Camera['onvif']>>({
    address: anyText,
    profile: anyText,
    username: anyText,
    password: anyText,
  }),
  box: fc.constantFrom(null, 'box-1'),
});

/** Folders that form a tree, in any order: each has a parent among those made before it, or none. */
const anyFolders: fc.Arbitrary<Folder[]> = fc
  .uniqueArray(fc.record({ id: anyId, name: anyText, parent: fc.nat() }), {
    selector: ({ id }) => id,
    maxLength: 12,
  })
  .map((made) =>
    made.map(({ id, name, parent }, index) => ({ id, name, parent_id: made[parent % (index + 1)]!.id })),
  )
  .map((folders) =>
    folders.map((folder) => (folder.parent_id === folder.id ? { ...folder, parent_id: '' } : folder)),
  )
  .chain((folders) => fc.shuffledSubarray(folders, { minLength: folders.length }));

const anyLayout: fc.Arbitrary<Layout> = record<Layout>({
  id: anyId,
  // Who is there in any configuration.
  owner: fc.constant('admin'),
  name: anyText,
  shared: fc.boolean(),
  grid: fc.constantFrom('1x1', '6x6', '1+7'),
  source: fc.oneof(
    fc.constant({ kind: 'hand' as const }),
    record({ kind: fc.constantFrom('folder' as const, 'tag' as const), id: anyId }),
  ),
  tiles: fc.array(record({ camera_id: fc.oneof(fc.constant(''), anyId) }), { maxLength: 5 }),
  tour_sec: fc.nat(),
  enlarge_on_event: fc.boolean(),
});

const anyWebhook: fc.Arbitrary<Webhook> = record<Webhook>({
  id: anyId,
  name: anyText,
  url: anyText,
  secret: anyText,
  enabled: fc.boolean(),
  types: fc.array(anyText, { maxLength: 3 }),
  camera_ids: fc.array(anyId, { maxLength: 3 }),
  labels: fc.array(anyText, { maxLength: 3 }),
});

const byKey = <T>(one: fc.Arbitrary<T>, selector: (value: T) => string): fc.Arbitrary<T[]> =>
  fc.uniqueArray(one, { selector, maxLength: 6 });

const anyLimit = fc.option(fc.array(anyId, { minLength: 1, maxLength: 3 }));

/** Any configuration that may be imported. */
export const anyConfiguration: fc.Arbitrary<Configuration> = record<Configuration>({
  cameras: byKey(anyCamera, ({ id }) => id),
  tags: byKey(record<Tag>({ id: anyId, name: anyText, color: fc.constant('#A0b1C2') }), ({ id }) => id),
  folders: anyFolders,
  users: byKey(
    fc
      .record({ username: anyId, password_hash: anyText, role: fc.constantFrom(...ROLES), folders: anyLimit })
      .map(({ folders, ...user }): UserRecord => (folders === null ? user : { ...user, folders })),
    ({ username }) => username,
  ),
  layouts: byKey(anyLayout, ({ id }) => id),
  settings: record({ time_zone: anyText }),
  webhooks: byKey(anyWebhook, ({ id }) => id),
  keys: byKey(
    record<ApiKeyRecord>({
      ...{ id: anyId, name: anyId, secret_hash: anyId, role: fc.constantFrom(...ROLES) },
      ...{ folders: anyLimit, cameras: anyLimit, created_ms: fc.nat() },
      expires_ms: fc.option(fc.nat()),
    }),
    // What is unique in the database is unique here.
    ({ id }) => id,
  ).map((keys) => keys.map((key) => ({ ...key, name: key.id, secret_hash: key.id }))),
}).map((configuration) => ({
  ...configuration,
  users: [
    ...configuration.users.filter(({ username }) => username !== 'admin'),
    { username: 'admin', password_hash: 'hash', role: 'admin' as const },
  ],
}));

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);

/** The configuration in the order in which the store lists things. */
export const sorted = (configuration: Configuration): Configuration => ({
  cameras: configuration.cameras.toSorted(byId),
  tags: configuration.tags.toSorted(byId),
  folders: configuration.folders.toSorted(byId),
  users: configuration.users.toSorted((a, b) => (a.username < b.username ? -1 : 1)),
  layouts: configuration.layouts.toSorted(byId),
  settings: configuration.settings,
  webhooks: configuration.webhooks.toSorted(byId),
  keys: configuration.keys.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
});
