import { endOf, type View, xOf } from './axis.js';
import { eachBar, eachMark } from './bars.js';
import { boxAway, type Lane } from './lane.js';
import type { Selection } from './selection.js';
import type { Tick } from './ticks.js';

export const AXIS_PX = 40;
export const LANE_PX = 30;
const BAR_PX = 16;
const BAR_TOP_PX = 12;
const MOTION_PX = 10;
const FONT = '12px system-ui, sans-serif';
const NAME_FONT = '11px system-ui, sans-serif';

export type TapeColours = Readonly<
  Record<
    | 'bg'
    | 'surface'
    | 'raised'
    | 'line'
    | 'text'
    | 'muted'
    | 'accent'
    | 'motion'
    | 'gap'
    | 'vehicle'
    | 'warn'
    | 'danger',
    string
  >
>;

export type TapeScene = {
  readonly widthPx: number;
  readonly heightPx: number;
  readonly view: View;
  readonly ticks: readonly Tick[];
  readonly lanes: readonly { readonly name: string; readonly isLarge: boolean; readonly lane: Lane }[];
  readonly timeMs: number;
  readonly nowMs: number;
  readonly selection: Selection;
  readonly colours: TapeColours;
  readonly hoverX: number | null;
};

type Context = CanvasRenderingContext2D;

export const heightOf = (lanes: number): number => AXIS_PX + Math.max(lanes, 1) * LANE_PX + 6;

/** Which lane is at a height; -1: none is. */
export const laneAt = (y: number, lanes: number): number => {
  const index = Math.floor((y - AXIS_PX) / LANE_PX);
  return index >= 0 && index < lanes ? index : -1;
};

const drawAxis = (context: Context, { widthPx, heightPx, view, ticks, colours }: TapeScene): void => {
  context.textAlign = 'center';
  context.textBaseline = 'top';
  for (const { timeMs, label, offset, isDay } of ticks) {
    const x = Math.round(xOf(view, timeMs, widthPx)) + 0.5;
    context.strokeStyle = isDay ? colours.gap : colours.line;
    context.beginPath();
    context.moveTo(x, label === '' ? AXIS_PX - 6 : AXIS_PX - 10);
    context.lineTo(x, heightPx);
    context.stroke();
    context.fillStyle = isDay ? colours.text : colours.muted;
    context.font = isDay ? `600 ${FONT}` : FONT;
    if (label !== '') context.fillText(label, x, 3);
    context.font = NAME_FONT;
    if (offset !== '') context.fillText(offset, x, 17);
  }
};

const patterns = new Map<string, CanvasPattern | null>();
/** Hatched, so that it isn't told by colour alone. */
const hatchOf = (context: Context, colour: string): CanvasPattern | string => {
  let pattern = patterns.get(colour);
  if (pattern === undefined) {
    const tile = new OffscreenCanvas(8, 8);
    const draw = tile.getContext('2d');
    if (draw !== null) {
      draw.strokeStyle = colour;
      draw.lineWidth = 1.5;
      for (const shift of [-8, 0, 8]) {
        draw.moveTo(shift, 8);
        draw.lineTo(shift + 8, 0);
      }
      draw.stroke();
    }
    pattern = context.createPattern(tile as unknown as HTMLCanvasElement, 'repeat');
    patterns.set(colour, pattern);
  }
  return pattern ?? colour;
};

/** Bars that follow each other within a pixel are one: a day may have ten thousand. */
const drawSpans = (
  context: Context,
  spans: readonly (readonly [number, number, ...unknown[]])[],
  { view, widthPx }: TapeScene,
  y: number,
): void => {
  let fromPx = Number.NaN;
  let toPx = Number.NaN;
  const flush = (): void => {
    if (!Number.isNaN(fromPx)) context.rect(fromPx, y, Math.max(toPx - fromPx, 1), BAR_PX);
  };
  // Filled all at once: one by one takes many times as long.
  context.beginPath();
  for (const [fromMs, toMs] of spans) {
    if (toMs < view.fromMs || fromMs > endOf(view)) continue;
    const left = Math.max(xOf(view, fromMs, widthPx), 0);
    const right = Math.min(xOf(view, toMs, widthPx), widthPx);
    if (left - toPx < 0.5) toPx = Math.max(toPx, right);
    else {
      flush();
      [fromPx, toPx] = [left, right];
    }
  }
  flush();
  context.fill();
};

const labelColour = (label: string, colours: TapeColours): string => {
  if (label === 'person') return colours.warn;
  return /car|truck|bus|vehicle|bicycle|motor/.test(label) ? colours.vehicle : colours.text;
};

/** One outline of all that follow one another: a rectangle for each takes longer to hand over and to fill. */
const drawMotion = (
  context: Context,
  { view, widthPx }: TapeScene,
  { motion }: Lane,
  bottom: number,
): void => {
  let endX = Number.NaN;
  context.beginPath();
  eachBar(motion, view, widthPx, (value, x, width) => {
    const top = bottom - (value / 255) * MOTION_PX;
    const isNext = x - endX < 0.5 && x + width > endX;
    if (!isNext) {
      context.lineTo(endX, bottom);
      context.moveTo(x, bottom);
    }
    context.lineTo(isNext ? endX : x, top);
    endX = x + width;
    context.lineTo(endX, top);
  });
  context.lineTo(endX, bottom);
  context.fill();
};

const drawLane = (context: Context, scene: TapeScene, index: number): void => {
  const { colours, view, widthPx } = scene;
  const { name, isLarge, lane } = scene.lanes[index]!;
  const top = AXIS_PX + index * LANE_PX;
  const barTop = top + BAR_TOP_PX;
  context.fillStyle = colours.raised;
  context.fillRect(0, barTop, widthPx, BAR_PX);
  context.fillStyle = hatchOf(context, colours.gap);
  drawSpans(context, lane.gaps, scene, barTop);
  context.fillStyle = hatchOf(context, colours.warn);
  drawSpans(
    context,
    lane.gaps.filter(([, , reason]) => boxAway(reason) !== null),
    scene,
    barTop,
  );
  context.fillStyle = isLarge
    ? colours.accent
    : `color-mix(in srgb, ${colours.accent}, ${colours.raised} 45%)`;
  drawSpans(context, lane.recorded, scene, barTop);
  context.fillStyle = colours.motion;
  drawMotion(context, scene, lane, barTop + BAR_PX);
  for (const [label, all] of lane.labels) {
    context.fillStyle = labelColour(label, colours);
    context.beginPath();
    eachMark(all, view, widthPx, (x, width) => context.rect(x, barTop + 2, width, 5));
    // Neither of two that touch leaves the other out.
    context.fill('nonzero');
  }
  context.font = isLarge ? `600 ${NAME_FONT}` : NAME_FONT;
  context.textAlign = 'left';
  context.textBaseline = 'top';
  const textWidth = Math.min(context.measureText(name).width, widthPx / 3);
  context.fillStyle = colours.surface;
  context.fillRect(0, top - 1, textWidth + 10, 13);
  context.fillStyle = isLarge ? colours.text : colours.muted;
  context.fillText(name, 5, top, widthPx / 3);
};

const drawSelection = (context: Context, scene: TapeScene): void => {
  const { selection, view, widthPx, heightPx, colours } = scene;
  const { fromMs, toMs } = selection;
  const left = fromMs === null ? null : xOf(view, fromMs, widthPx);
  const right = toMs === null ? null : xOf(view, toMs, widthPx);
  context.fillStyle = `color-mix(in srgb, ${colours.warn} 22%, transparent)`;
  if (left !== null && right !== null)
    context.fillRect(left, AXIS_PX - 12, right - left, heightPx - AXIS_PX + 12);
  context.fillStyle = colours.warn;
  context.font = `600 ${NAME_FONT}`;
  context.textBaseline = 'top';
  for (const [x, text, isLeft] of [
    [left, 'I', true],
    [right, 'O', false],
  ] as const) {
    if (x === null) continue;
    context.fillRect(x - 1, AXIS_PX - 12, 2, heightPx);
    context.textAlign = isLeft ? 'left' : 'right';
    context.fillText(text, x + (isLeft ? 4 : -4), AXIS_PX - 12);
  }
};

const drawMarks = (context: Context, scene: TapeScene): void => {
  const { view, widthPx, heightPx, colours, timeMs, nowMs, hoverX } = scene;
  const nowX = xOf(view, nowMs, widthPx);
  if (nowX < widthPx) {
    context.fillStyle = colours.bg;
    context.globalAlpha = 0.6;
    context.fillRect(nowX, AXIS_PX, widthPx - nowX, heightPx);
    context.globalAlpha = 1;
  }
  if (hoverX !== null) {
    context.fillStyle = colours.muted;
    context.fillRect(Math.round(hoverX), AXIS_PX - 10, 1, heightPx);
  }
  const x = xOf(view, timeMs, widthPx);
  if (x < -10 || x > widthPx + 10) return;
  context.fillStyle = colours.danger;
  context.fillRect(x - 1, AXIS_PX - 10, 2, heightPx);
  context.beginPath();
  context.moveTo(x - 6, AXIS_PX - 14);
  context.lineTo(x + 6, AXIS_PX - 14);
  context.lineTo(x, AXIS_PX - 4);
  context.fill();
};

export const drawTape = (context: Context, scene: TapeScene): void => {
  context.fillStyle = scene.colours.surface;
  context.fillRect(0, 0, scene.widthPx, scene.heightPx);
  context.lineWidth = 1;
  drawAxis(context, scene);
  for (let index = 0; index < scene.lanes.length; index += 1) drawLane(context, scene, index);
  drawSelection(context, scene);
  drawMarks(context, scene);
};
