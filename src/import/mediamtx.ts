import { type Fields, fieldsOf, isOn, textOf } from './peer-yaml.js';
import { Plan, whyNotPulled } from './plan.js';

const TAKEN = {
  source: null,
  sourceOnDemand: null,
  rtspTransport: null,
  sourceProtocol: null,
  record: null,
  recordDeleteAfter: null,
};
/** Defaults of sources that are no cameras here. */
const OF_OTHERS = /^(?:rpiCamera|whep|moq)/;

const MS_DAYS = 1 / 86_400_000;
const UNIT_DAYS: Readonly<Record<string, number>> = {
  d: 1,
  h: 3_600_000 * MS_DAYS,
  m: 60_000 * MS_DAYS,
  s: 1_000 * MS_DAYS,
  ms: MS_DAYS,
  us: MS_DAYS / 1_000,
  µs: MS_DAYS / 1_000,
  ns: MS_DAYS / 1_000_000,
};
const DURATION = /^(?:0|(?:\d{1,9}d)?(?:\d{1,9}(?:\.\d{1,9})?(?:h|ms|m|s|us|µs|ns))*)$/;
const MAX_DAYS = 36_500;

/** Whole days, rounded up; 0: for ever, as with us. Undefined: no such duration, or a longer one than is kept here. */
const daysOf = (duration: string): number | undefined => {
  if (duration === '' || !DURATION.test(duration)) return undefined;
  const parts = [...duration.matchAll(/([\d.]+)(d|h|ms|m|s|us|µs|ns)/g)];
  const days = Math.ceil(
    parts.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNIT_DAYS[unit] ?? 0), 0),
  );
  return days > MAX_DAYS ? undefined : days;
};

/** A day where nothing is said, as MediaMTX has it; what can't be read is never "for ever". */
const retentionOf = (plan: Plan, name: string, value: unknown) => {
  const days = daysOf(textOf(value ?? '1d'));
  if (days !== undefined) return { retention_days: days };
  plan.leave(name, 'not taken over: recordDeleteAfter, which is no duration that is kept here');
  return {};
};

/** MediaMTX: paths that are pulled by RTSP. */
export const planOfMediamtx = (file: Fields): Plan => {
  const plan = new Plan();
  const defaults = fieldsOf(file['pathDefaults']);
  plan.leaveFields('the file', file, { paths: null, pathDefaults: null });
  const forCameras = Object.entries(defaults).filter(([name]) => !OF_OTHERS.test(name));
  plan.leaveFields('pathDefaults', Object.fromEntries(forCameras), TAKEN);
  for (const [name, own] of Object.entries(fieldsOf(file['paths']))) {
    const path: Fields = { ...defaults, ...fieldsOf(own) };
    const source = textOf(path['source'] ?? 'publisher');
    const isPattern = name.startsWith('~') || name === 'all' || name === 'all_others';
    const why = isPattern
      ? 'stands for many paths, not for one camera'
      : source === 'publisher'
        ? 'waits for a publisher; cameras are pulled here'
        : whyNotPulled(source);
    if (why !== undefined) {
      plan.leave(name, why);
      continue;
    }
    plan.leaveFields(name, fieldsOf(own), TAKEN);
    const transport = textOf(path['rtspTransport'] ?? path['sourceProtocol']);
    if (transport === 'multicast') plan.leave(name, 'multicast: TCP is used instead');
    plan.add(name, {
      url: source,
      transport: transport === 'udp' ? 'udp' : 'tcp',
      on_demand: isOn(path['sourceOnDemand']),
      record: isOn(path['record']),
      ...retentionOf(plan, name, path['recordDeleteAfter']),
    });
  }
  return plan;
};
