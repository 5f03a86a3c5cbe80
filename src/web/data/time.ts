import { computed, signal } from '@preact/signals';
import { serviceNowMs } from './service-clock.js';
import { me } from './session.js';
import { areAlike, cityOf, clockText, dateOf, dayBounds, knownZone, offsetText } from './zones.js';

/** The zone of the machine that this page runs on. */
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Whether the user wants the own zone instead of the site's, in this page. */
export const isOwnZoneWanted = signal(false);

const siteZone = computed(() => knownZone(me.value?.time_zone || 'UTC'));

/** As it is named beside what goes by the site's clocks, whichever are shown here. */
export const siteZoneName = computed(() => cityOf(siteZone.value));

/** "Mine" is offered only where it shows other times than the site's. */
export const mayUseOwnZone = computed(() => !areAlike(siteZone.value, ownZone, serviceNowMs()));

/** The zone in which times are shown. Pages count in UTC, and name the zone wherever they show a time. */
export const zone = computed(() => (isOwnZoneWanted.value && mayUseOwnZone.value ? ownZone : siteZone.value));

/** As it is named beside a time: "Berlin". */
export const zoneName = computed(() => cityOf(zone.value));

/** "02:14:07" */
export const showClock = (ms: number, form?: { hasSeconds?: boolean; hasMillis?: boolean }): string =>
  clockText(ms, zone.value, form);

/** "+01:00" */
export const showOffset = (ms: number): string => offsetText(ms, zone.value);

/** "Fri, 20 Nov" with the year where it is another one than this. */
export const showDate = (ms: number): string =>
  new Intl.DateTimeFormat('en-GB', {
    timeZone: zone.value,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    ...(dateOf(ms, zone.value).slice(0, 4) === dateOf(serviceNowMs(), zone.value).slice(0, 4)
      ? {}
      : { year: 'numeric' }),
  }).format(ms);

/** "Fri, 20 Nov 02:14:07 Berlin": for where nothing else names the zone. */
export const showMoment = (ms: number): string => `${showDate(ms)} ${showClock(ms)} ${zoneName.value}`;

/** Today in the site's zone, as "2026-11-20". */
export const today = (): string => dateOf(serviceNowMs(), zone.value);

/** A day of the site's zone in UTC: 23, 24 or 25 hours. */
export const boundsOfDay = (date: string): { readonly fromMs: number; readonly toMs: number } =>
  dayBounds(date, zone.value);

const units = [
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;

/** "3 min", "2 hr": of how long something lasts, in its largest unit. */
export const showDuration = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1_000));
  const [size, unit] = units.find(([each]) => seconds >= each) ?? units[3];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'short' }).format(
    Math.floor(seconds / size),
  );
};

/** "3 min. ago" */
export const showAgo = (ms: number, nowMs = serviceNowMs()): string => {
  const seconds = Math.round((ms - nowMs) / 1_000);
  const [size, unit] = units.find(([each]) => Math.abs(seconds) >= each) ?? units[3];
  return new Intl.RelativeTimeFormat('en', { style: 'short', numeric: 'auto' }).format(
    Math.trunc(seconds / size),
    unit,
  );
};
