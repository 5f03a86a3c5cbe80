import type { Camera, NewCamera } from '../../../data/types.js';

/** What can be set here; a setting that isn't shown is never sent. */
export const settingNames = [
  ...([
    'url',
    'sub_url',
    'transport',
    'comment',
    'folder_id',
    'tags',
    'disabled',
    'on_demand',
    'lazy_hls',
  ] as const),
  ...([
    'detect',
    'detection',
    'record',
    'record_mode',
    'retention_days',
    'event_retention_days',
    'token_auth',
    'traffic_limit',
    'sim_phone',
    'sim_iccid',
  ] as const),
  ...(['box', 'onvif', 'quirks'] as const),
] as const;
export type SettingName = (typeof settingNames)[number];
export type Settings = Pick<Camera, SettingName>;

/** As the service has it for a camera of which nothing else is said. */
export const newSettings = (folderId: string): Settings => ({
  ...{ url: '', sub_url: '', transport: 'tcp', comment: '', folder_id: folderId, tags: [] },
  ...{
    disabled: false,
    on_demand: false,
    lazy_hls: true,
    detect: false,
    detection: {},
    record: false,
    retention_days: 7,
  },
  ...{ record_mode: 'continuous', event_retention_days: 0 },
  ...{ token_auth: false, traffic_limit: 0, sim_phone: '', sim_iccid: '', box: null, onvif: {}, quirks: {} },
});

export const settingsOf = (camera: Camera): Settings =>
  Object.fromEntries(settingNames.map((name) => [name, camera[name]])) as Settings;

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

/** Tags have no order. */
const isSame = (name: SettingName, a: Settings, b: Settings): boolean =>
  name === 'tags'
    ? textOf([...a.tags].sort()) === textOf([...b.tags].sort())
    : textOf(a[name]) === textOf(b[name]);

export const changedNames = (from: Settings, to: Settings): SettingName[] =>
  settingNames.filter((name) => !isSame(name, from, to));

/** What is sent: nothing that wasn't changed, so that nobody's other change is overwritten. */
export const changesOf = (base: Settings, draft: Settings): Partial<NewCamera> =>
  Object.fromEntries(changedNames(base, draft).map((name) => [name, draft[name]]));

export type Merged = {
  readonly base: Settings;
  readonly draft: Settings;
  /** Changed by somebody else, and taken over: nobody had touched them here. */
  readonly taken: readonly SettingName[];
  /** Changed by both, to different values: ours stay in the form. */
  readonly conflicts: readonly SettingName[];
};

/** Somebody else has changed the camera while it is edited here. */
export const merged = (base: Settings, draft: Settings, theirs: Settings): Merged => {
  const changed = changedNames(base, theirs);
  const touched = new Set(changedNames(base, draft));
  const taken = changed.filter((name) => !touched.has(name));
  const conflicts = changed.filter((name) => touched.has(name) && !isSame(name, draft, theirs));
  const takenOver = Object.fromEntries(taken.map((name) => [name, theirs[name]]));
  return { base: theirs, draft: { ...draft, ...takenOver }, taken, conflicts };
};

/** What is known of a camera that is edited. */
export type Form = {
  readonly base: Settings;
  readonly draft: Settings;
  readonly taken: ReadonlySet<SettingName>;
  readonly conflicts: ReadonlySet<SettingName>;
};

const isSetting = (name: string): name is SettingName => settingNames.some((each) => each === name);

const knownOf = (set: object): Partial<Settings> =>
  Object.fromEntries(Object.entries(set).filter(([name]) => isSetting(name)));

/** As it was read; `told`: what others changed while it was, which may be missing in it. */
export const begun = (read: Settings, told: readonly object[] = []): Form => {
  const settings: Settings = Object.assign({}, read, ...told.map(knownOf));
  return { base: settings, draft: settings, taken: new Set(), conflicts: new Set() };
};

/** Somebody else has set something. */
export const withTheirs = (form: Form, set: object): Form => {
  const known = knownOf(set);
  if (Object.keys(known).length === 0) return form;
  const { base, draft, taken, conflicts } = merged(form.base, form.draft, { ...form.base, ...known });
  return {
    ...{ base, draft, taken: new Set([...form.taken, ...taken]) },
    conflicts: new Set([
      ...[...form.conflicts].filter((name) => changedNames(base, draft).includes(name)),
      ...conflicts,
    ]),
  };
};

/** What is wrong with which field: `url`, `quirks.user_agent`; what belongs to none is left out. */
export const faultsByField = (
  faults: readonly { readonly path: string; readonly message: string }[],
): ReadonlyMap<string, string> => new Map(faults.map(({ path, message }) => [path, message]));
