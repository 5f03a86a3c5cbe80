import { cameraList, nameOf } from '../../data/cameras.js';
import { whatOf } from '../../data/kept-event.js';
import type { EventFilter } from '../../data/kept-events.js';
import { query, setQuery } from '../../data/route.js';
import { serviceNowMs } from '../../data/service-clock.js';
import { Select } from '../../parts/select.js';
import { eventsText } from '../../text/events.js';
import styles from './events.module.css';

const DAY_MS = 86_400_000;
const PERIODS = { day: DAY_MS, week: 7 * DAY_MS, month: 31 * DAY_MS, all: null } as const;
type Period = keyof typeof PERIODS;
const TYPES = ['detection', 'motion', 'rule', 'camera_lost', 'recording_gap', 'storage'] as const;

const isPeriod = (text: string | null): text is Period => text !== null && text in PERIODS;

/** The filters that the address has, as text: the same text asks for the same. */
export const filterText = (): string =>
  ['period', 'camera', 'what', 'seen'].map((name) => query.value.get(name) ?? '').join('\n');

/** What the address asks for. */
export const filterOfAddress = (): EventFilter => {
  const given = query.peek();
  const period = given.get('period');
  const lengthMs = PERIODS[isPeriod(period) ? period : 'week'];
  const camera = given.get('camera');
  return {
    ...(lengthMs === null ? {} : { fromMs: serviceNowMs() - lengthMs }),
    ...(camera === null ? {} : { cameras: [camera] }),
    ...whatOf(given.get('what')),
    ...(given.get('seen') === 'new' ? { reviewed: false } : {}),
  };
};

/** What may hide events: filters, or nothing but the time that is shown; null: nothing does. */
export const hiddenBy = (): 'filters' | Exclude<Period, 'all'> | null => {
  const given = query.value;
  if (['camera', 'what', 'seen'].some((name) => given.get(name) !== null)) return 'filters';
  const asked = given.get('period');
  const period = isPeriod(asked) ? asked : 'week';
  return period === 'all' ? null : period;
};

export const clearFilters = (): void => setQuery({ period: 'all', camera: null, what: null, seen: null });

const set = (name: string, usual: string) => (value: string) =>
  setQuery({ [name]: value === usual ? null : value });

/** Filters; all of them stand in the address. */
export const EventBar = ({ labels }: { readonly labels: readonly string[] }) => {
  const given = query.value;
  const period = given.get('period');
  const what = given.get('what') ?? '';
  const { labels: asked = [] } = whatOf(what);
  const shownLabels = [...new Set([...labels, ...asked])].sort();
  return (
    <div class={styles.filters}>
      <Select
        label={eventsText('period')}
        isLabelHidden
        value={isPeriod(period) ? period : 'week'}
        options={(Object.keys(PERIODS) as Period[]).map((value) => ({
          value,
          label: eventsText(`period_${value}`),
        }))}
        onChange={set('period', 'week')}
      />
      <Select
        label={eventsText('camera')}
        isLabelHidden
        value={given.get('camera') ?? ''}
        options={[
          { value: '', label: eventsText('allCameras') },
          ...cameraList.value.map((camera) => ({ value: camera.id, label: nameOf(camera) })),
        ]}
        onChange={set('camera', '')}
      />
      <Select
        label={eventsText('kind')}
        isLabelHidden
        value={what}
        options={[
          { value: '', label: eventsText('allKinds') },
          ...shownLabels.map((label) => ({ value: `label:${label}`, label })),
          ...TYPES.map((type) => ({ value: type, label: eventsText(`type_${type}`) })),
        ]}
        onChange={set('what', '')}
      />
      <Select
        label={eventsText('seen')}
        isLabelHidden
        value={given.get('seen') ?? ''}
        options={[
          { value: '', label: eventsText('alsoReviewed') },
          { value: 'new', label: eventsText('onlyNew') },
        ]}
        onChange={set('seen', '')}
      />
    </div>
  );
};
