import { useEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { showClock, zone } from '../../data/time.js';
import { systemText } from '../../text/system.js';
import styles from './system.module.css';

const HEIGHT_PX = 132;
const MINUTE_SEC = 60;
const SYNC = 'system';

const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export type ChartProps = {
  readonly title: string;
  readonly unitDigits: number;
  readonly seconds: readonly number[];
  readonly values: readonly (number | null)[];
};

const optionsOf = (width: number, onCursor: (index: number | null) => void): UPlot.Options => {
  const axis: UPlot.Axis = {
    stroke: () => colour('muted'),
    grid: { stroke: () => colour('line'), width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  return {
    width,
    height: HEIGHT_PX,
    // Half of a time at the end has room there.
    padding: [8, 28, 0, 0],
    legend: { show: false },
    cursor: { sync: { key: SYNC }, points: { size: 6 }, drag: { x: false, y: false } },
    tzDate: (seconds) => UPlot.tzDate(new Date(seconds * 1_000), zone.peek()),
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, (high ?? 0) * 1.1)] } },
    axes: [
      {
        ...axis,
        size: 28,
        space: 72,
        values: (_plot, splits, _axis, _space, stepSec) =>
          splits.map((at) => showClock(at * 1_000, { hasSeconds: stepSec < MINUTE_SEC })),
      },
      { ...axis, size: 44, space: 32 },
    ],
    series: [
      {},
      {
        stroke: () => colour('accent'),
        width: 1.5,
        fill: () => `${colour('accent')}22`,
        points: { show: false },
      },
    ],
    hooks: { setCursor: [({ cursor: { idx } }) => onCursor(idx ?? null)] },
  };
};

const textOf = (value: number | null | undefined, digits: number): string =>
  value === null || value === undefined ? systemText('unknown') : value.toFixed(digits);

/** One figure over time; what the drawing says is also said in words. */
export const Chart = (props: ChartProps) => {
  const { title, unitDigits: digits, seconds, values } = props;
  const holder = useRef<HTMLDivElement>(null);
  const told = useRef<HTMLSpanElement>(null);
  const plot = useRef<UPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const tell = (index: number | null): void => {
    if (told.current === null) return;
    const { values: all, seconds: times } = latest.current;
    const at = index === null ? undefined : times[index];
    told.current.textContent =
      index === null || at === undefined
        ? systemText('now', { value: textOf(all.at(-1), digits) })
        : systemText('at', { value: textOf(all[index], digits), time: showClock(at * 1_000) });
  };
  useEffect(() => {
    const { current: element } = holder;
    if (element === null) return;
    const made = new UPlot(optionsOf(element.clientWidth, tell), [[], []], element);
    plot.current = made;
    const sizes = new ResizeObserver(() => made.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    sizes.observe(element);
    // Its colours are those of the theme, which is set on the root.
    const themes = new MutationObserver(() => made.redraw(false));
    themes.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    return () => {
      sizes.disconnect();
      themes.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData([seconds as number[], values as (number | null)[]]);
    tell(plot.current?.cursor.idx ?? null);
  }, [seconds, values]);
  const known = values.filter((value) => value !== null);
  const about = systemText('about', {
    name: title,
    now: textOf(values.at(-1), digits),
    low: textOf(known.length === 0 ? null : known.reduce((a, b) => Math.min(a, b)), digits),
    high: textOf(known.length === 0 ? null : known.reduce((a, b) => Math.max(a, b)), digits),
  });
  return (
    <figure class={styles.chart}>
      <figcaption class={styles.caption}>
        <span>{title}</span>
        <span ref={told} class={styles.told} />
      </figcaption>
      <div ref={holder} role="img" aria-label={about} dir="ltr" />
    </figure>
  );
};
