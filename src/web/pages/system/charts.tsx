import { useEffect, useState } from 'preact/hooks';
import { asProblem, type Problem } from '../../data/problem.js';
import { ProblemBox } from '../../parts/problem-box.js';
import { Skeleton } from '../../parts/states.js';
import { systemText } from '../../text/system.js';
import { Chart } from './chart.js';
import { type Figures, followHistory, lastOf, meanOf, type Span } from './history.js';
import styles from './system.module.css';

type Values = readonly (number | null)[];

const BITS = 8;
const MEGA = 1e6;
const GIGA = 1e9;
const DAY_SEC = 86_400;
/** Below it the disk lasts longer than anybody plans. */
const MIN_PACE_BYTES = 1_000;
const LITTLE_LEFT_DAYS = 3;

const scaled = (values: Values, factor: number): Values =>
  values.map((value) => (value === null ? null : value * factor));

const sum = (...columns: readonly Values[]): Values =>
  (columns[0] ?? []).map((_, at) =>
    columns.reduce<number | null>((all, column) => {
      const value = column[at] ?? null;
      return all === null || value === null ? null : all + value;
    }, 0),
  );

const viewerKinds = ['websocket', 'wall', 'hls', 'whep', 'rtsp'].map((kind) => `viewers_${kind}`);

const plain = [
  'fps',
  'received_bytes_per_second',
  'dropped_frames_per_second',
  'unrecorded_frames_per_second',
  'cpu_percent',
  'memory_bytes',
  'storage_free_bytes',
  'disk_written_bytes_per_second',
  'loop_lag_ms_per_second',
];

/** Each thread that did anything in this time; one core is all that it can have. */
const threadNames = [
  'cpu_main_percent',
  ...[1, 2, 3, 4].map((place) => `cpu_camera_worker_${place}_percent`),
  ...[1, 2].map((place) => `cpu_whep_worker_${place}_percent`),
  'cpu_rest_percent',
];

const threadTitle = (name: string): string => {
  const [, role = '', place = ''] = /^cpu_(main|camera|whep|rest)_(?:worker_(\d)_)?percent$/.exec(name) ?? [];
  if (role === 'camera') return systemText('threadCamera', { place });
  if (role === 'whep') return systemText('threadWhep', { place });
  return systemText(role === 'main' ? 'threadMain' : 'threadRest');
};

const charts = (of: (name: string) => Values) =>
  [
    { name: 'fps', digits: 0, values: of('fps') },
    { name: 'received', digits: 1, values: scaled(of('received_bytes_per_second'), BITS / MEGA) },
    {
      name: 'lost',
      digits: 2,
      values: sum(of('dropped_frames_per_second'), of('unrecorded_frames_per_second')),
    },
    { name: 'cpu', digits: 0, values: of('cpu_percent') },
    { name: 'memory', digits: 0, values: scaled(of('memory_bytes'), 1 / MEGA) },
    { name: 'disk', digits: 1, values: scaled(of('storage_free_bytes'), 1 / GIGA) },
    { name: 'lag', digits: 1, values: of('loop_lag_ms_per_second') },
    {
      name: 'viewers',
      digits: 0,
      values: sum(...viewerKinds.map(of).filter((values) => values.length > 0)),
    },
  ] as const;

/** How long the disk lasts at the pace at which it is written now. */
const DaysLeft = ({ of }: { readonly of: (name: string) => Values }) => {
  const free = lastOf(of('storage_free_bytes'));
  const pace = meanOf(of('disk_written_bytes_per_second'));
  if (free === null || pace === null) return null;
  if (pace < MIN_PACE_BYTES) return <p class={styles.note}>{systemText('noPace')}</p>;
  const days = free / pace / DAY_SEC;
  return (
    <p class={styles.note}>
      {systemText('daysLeft', { days: days < LITTLE_LEFT_DAYS ? days.toFixed(1) : Math.floor(days) })}
    </p>
  );
};

/** Figures of the last hour, or the last day. */
export const Charts = ({ span }: { readonly span: Span }) => {
  const [figures, setFigures] = useState<Figures | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [tries, setTries] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setProblem(null);
    followHistory(span, [...plain, ...threadNames, ...viewerKinds], setFigures, abort.signal).catch(
      (fault: unknown) => {
        if (!abort.signal.aborted) setProblem(asProblem(fault));
      },
    );
    return () => abort.abort();
  }, [span, tries]);
  if (problem !== null)
    return <ProblemBox what={systemText('failed')} problem={problem} onRetry={() => setTries(tries + 1)} />;
  if (figures === null) return <Skeleton bars={6} />;
  const of = (name: string): Values => figures.columns[name] ?? [];
  const length = of('fps').length;
  const seconds = Array.from({ length }, (_, index) => (figures.fromMs + index * figures.stepMs) / 1_000);
  return (
    <>
      <div class={styles.charts}>
        {charts(of).map(({ name, digits, values }) => (
          <Chart key={name} title={systemText(name)} unitDigits={digits} seconds={seconds} values={values} />
        ))}
      </div>
      <DaysLeft of={of} />
      <h2 class={styles.heading}>{systemText('threads')}</h2>
      <div class={styles.charts}>
        {threadNames
          .filter((name) => of(name).some((value) => value !== null))
          .map((name) => (
            <Chart key={name} title={threadTitle(name)} unitDigits={1} seconds={seconds} values={of(name)} />
          ))}
      </div>
    </>
  );
};
