import { linearTicks, logTicks, tickText } from './ticks.js';

export type Point = { readonly x: number; readonly y: number };

export type Series = {
  readonly name: string;
  readonly points: readonly Point[];
  readonly isDashed?: boolean;
};

export type Panel = {
  readonly title: string;
  readonly xTitle: string;
  readonly yTitle: string;
  /** Of what spans decades. */
  readonly isLog: boolean;
  readonly series: readonly Series[];
};

const WIDTH = 480;
const PLOT_HEIGHT = 220;
const MARGIN = { left: 64, right: 16, top: 36, bottom: 44 } as const;
const LEGEND_LINE = 16;
const COLUMNS = 2;
/** Told apart on white and on black, also by those who see red and green alike. */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#b8860b', '#56b4e9', '#8c564b', '#7f7f7f'];

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

const style = `<style>
  text { font: 12px system-ui, sans-serif; fill: #222 }
  .title { font-weight: 600; font-size: 14px }
  .back { fill: #fff } .line { stroke: #ddd } .axis { stroke: #777 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .back { fill: #16181c } .line { stroke: #333 } .axis { stroke: #888 }
  }
</style>`;

type Scale = { readonly ticks: readonly number[]; at(value: number): number };

const xScale = (points: readonly Point[]): Scale => {
  const ticks = linearTicks(Math.max(...points.map(({ x }) => x)));
  const width = WIDTH - MARGIN.left - MARGIN.right;
  return { ticks, at: (x) => MARGIN.left + (x / ticks.at(-1)!) * width };
};

const yScale = (points: readonly Point[], isLog: boolean): Scale => {
  const values = points.map(({ y }) => y);
  if (!isLog) {
    const ticks = linearTicks(Math.max(...values));
    return { ticks, at: (y) => MARGIN.top + (1 - y / ticks.at(-1)!) * PLOT_HEIGHT };
  }
  const ticks = logTicks(Math.min(...values), Math.max(...values));
  const [first, last] = [Math.log10(ticks[0]!), Math.log10(ticks.at(-1)!)];
  return {
    ticks,
    at: (y) => MARGIN.top + (1 - (Math.log10(y) - first) / (last - first)) * PLOT_HEIGHT,
  };
};

const round = (value: number): string => value.toFixed(1);

const axes = (panel: Panel, x: Scale, y: Scale): string[] => {
  const [bottom, right] = [MARGIN.top + PLOT_HEIGHT, WIDTH - MARGIN.right];
  return [
    ...y.ticks.flatMap((tick) => {
      const at = round(y.at(tick));
      return [
        `<line class="line" x1="${MARGIN.left}" x2="${right}" y1="${at}" y2="${at}"/>`,
        `<text x="${MARGIN.left - 6}" y="${at}" dy="4" text-anchor="end">${tickText(tick)}</text>`,
      ];
    }),
    `<line class="axis" x1="${MARGIN.left}" x2="${right}" y1="${bottom}" y2="${bottom}"/>`,
    ...x.ticks.map(
      (tick) =>
        `<text x="${round(x.at(tick))}" y="${bottom + 16}" text-anchor="middle">${tickText(tick)}</text>`,
    ),
    `<text x="${(MARGIN.left + right) / 2}" y="${bottom + 34}" text-anchor="middle">${escaped(panel.xTitle)}</text>`,
    `<text x="14" y="${MARGIN.top + PLOT_HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 14 ${MARGIN.top + PLOT_HEIGHT / 2})">${escaped(panel.yTitle)}</text>`,
  ];
};

const drawn = ({ points, isDashed = false }: Series, colour: string, x: Scale, y: Scale): string[] => {
  const sorted = points.toSorted((a, b) => a.x - b.x);
  const path = sorted.map((point) => `${round(x.at(point.x))},${round(y.at(point.y))}`).join(' ');
  return [
    `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"${isDashed ? ' stroke-dasharray="5 4"' : ''}/>`,
    ...sorted.map(
      (point) =>
        `<circle cx="${round(x.at(point.x))}" cy="${round(y.at(point.y))}" r="3" stroke="${colour}" fill="${isDashed ? 'none' : colour}"><title>${tickText(point.x)}: ${tickText(point.y)}</title></circle>`,
    ),
  ];
};

const legend = ({ name, isDashed = false }: Series, colour: string, index: number): string => {
  const at = MARGIN.top + PLOT_HEIGHT + MARGIN.bottom + 10 + index * LEGEND_LINE;
  const dash = isDashed ? ' stroke-dasharray="5 4"' : '';
  return (
    `<line x1="${MARGIN.left}" x2="${MARGIN.left + 24}" y1="${at - 4}" y2="${at - 4}" stroke="${colour}" stroke-width="2"${dash}/>` +
    `<text x="${MARGIN.left + 32}" y="${at}">${escaped(name)}</text>`
  );
};

const heightOf = ({ series }: Panel): number =>
  MARGIN.top + PLOT_HEIGHT + MARGIN.bottom + 16 + series.length * LEGEND_LINE;

/** A dashed series has the colour of the one before it: it is another figure of the same thing. */
const coloursOf = (series: readonly Series[]): string[] => {
  let solid = -1;
  return series.map(({ isDashed = false }) => {
    if (!isDashed || solid < 0) solid += 1;
    return COLOURS[solid % COLOURS.length]!;
  });
};

const drawPanel = (panel: Panel): string[] => {
  const points = panel.series.flatMap((series) => series.points);
  const [x, y] = [xScale(points), yScale(points, panel.isLog)];
  const colours = coloursOf(panel.series);
  return [
    `<text class="title" x="${MARGIN.left}" y="20">${escaped(panel.title)}</text>`,
    ...axes(panel, x, y),
    ...panel.series.flatMap((series, index) => [
      ...drawn(series, colours[index]!, x, y),
      legend(series, colours[index]!, index),
    ]),
  ];
};

/** Panels of points that are joined by lines, as one SVG that is readable on light and on dark pages. */
export const drawChart = (panels: readonly Panel[]): string => {
  const rows = Array.from({ length: Math.ceil(panels.length / COLUMNS) }, (_, row) =>
    panels.slice(row * COLUMNS, (row + 1) * COLUMNS),
  );
  const heights = rows.map((row) => Math.max(...row.map(heightOf)));
  const [width, height] = [
    WIDTH * Math.min(COLUMNS, panels.length),
    heights.reduce((sum, each) => sum + each, 0),
  ];
  const body = rows.flatMap((row, index) => {
    const top = heights.slice(0, index).reduce((sum, each) => sum + each, 0);
    return row.flatMap((panel, column) => [
      `<g transform="translate(${column * WIDTH} ${top})">`,
      ...drawPanel(panel),
      '</g>',
    ]);
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">`,
    '<title>CPU and latency</title>',
    style,
    `<rect class="back" width="${width}" height="${height}"/>`,
    ...body,
    '</svg>',
    '',
  ].join('\n');
};
