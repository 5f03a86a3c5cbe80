import { effect, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { serviceNowMs } from '../../data/service-clock.js';
import { archiveText } from '../../text/archive.js';
import { bounded, panned, zoomed } from './axis.js';
import { drawTape, heightOf, type TapeColours } from './draw-tape.js';
import { EMPTY_LANE } from './lane.js';
import { LaneTable } from './lane-table.js';
import styles from './tape.module.css';
import { TapeHover } from './tape-hover.js';
import { TapePointer } from './tape-pointer.js';
import type { Hover, TapeModel } from './tape-state.js';
import { ticksOf } from './ticks.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const ZOOM_STEP = 1.6;
/** Now moves on by itself. */
const NOW_EVERY_MS = 2_000;

const COLOUR_NAMES = [
  ...(['bg', 'surface', 'raised', 'line', 'text', 'muted', 'accent', 'motion', 'gap'] as const),
  ...(['vehicle', 'warn', 'danger'] as const),
] as const;

const readColours = (): TapeColours => {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(
    COLOUR_NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]),
  ) as TapeColours;
};

/** Draws it anew with the next frame after anything that it shows has changed; the result ends that. */
const keepDrawn = (canvas: HTMLCanvasElement, model: TapeModel, hover: { readonly value: Hover | null }) => {
  const context = canvas.getContext('2d', { alpha: false });
  let colours = readColours();
  let frame = 0;
  const draw = (): void => {
    frame = 0;
    const widthPx = canvas.clientWidth;
    const names = model.names.value;
    const heightPx = heightOf(names.length);
    if (context === null || widthPx === 0) return;
    const ratio = devicePixelRatio;
    const [width, height] = [Math.round(widthPx * ratio), Math.round(heightPx * ratio)];
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
      canvas.style.blockSize = `${heightPx}px`;
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const view = model.view.value;
    drawTape(context, {
      ...{ widthPx, heightPx, view, colours },
      ticks: ticksOf(view, widthPx, model.zone.value),
      lanes: names.map(({ id, name }) => ({
        name,
        isLarge: id === model.large.value,
        lane: model.lanes.value.get(id) ?? EMPTY_LANE,
      })),
      timeMs: model.timeMs.value,
      nowMs: serviceNowMs(),
      selection: model.selection.value,
      hoverX: hover.value?.x ?? null,
    });
  };
  const due = (): void => {
    if (frame === 0) frame = requestAnimationFrame(draw);
  };
  const stopEffect = effect(() => {
    for (const { value } of [model.view, model.timeMs, model.selection, model.lanes, model.names]) void value;
    for (const { value } of [model.large, model.zone, hover]) void value;
    due();
  });
  const size = new ResizeObserver(due);
  size.observe(canvas);
  const theme = new MutationObserver(() => {
    colours = readColours();
    due();
  });
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  const timer = setInterval(due, NOW_EVERY_MS);
  return () => {
    stopEffect();
    size.disconnect();
    theme.disconnect();
    clearInterval(timer);
    cancelAnimationFrame(frame);
  };
};

const onKey = (event: KeyboardEvent, model: TapeModel): void => {
  const stepMs = event.shiftKey ? MINUTE_MS : 5 * SECOND_MS;
  const view = model.view.peek();
  const timeMs = model.timeMs.value;
  const look = (next: typeof view): void => {
    model.view.value = bounded(next, serviceNowMs());
  };
  const actions: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => model.onStep(-stepMs),
    ArrowDown: () => model.onStep(-stepMs),
    ArrowRight: () => model.onStep(stepMs),
    ArrowUp: () => model.onStep(stepMs),
    PageUp: () => model.onStep(view.spanMs / 10),
    PageDown: () => model.onStep(-view.spanMs / 10),
    Home: () => look(panned(view, -view.spanMs)),
    End: () => look(panned(view, view.spanMs)),
    '+': () => look(zoomed(view, 1 / ZOOM_STEP, timeMs)),
    '=': () => look(zoomed(view, 1 / ZOOM_STEP, timeMs)),
    '-': () => look(zoomed(view, ZOOM_STEP, timeMs)),
  };
  const action = actions[event.key];
  if (action === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  event.stopPropagation();
  action();
};

/** Time from left to right, what was recorded in it, and where play is. */
export const Tape = ({ model }: { readonly model: TapeModel }) => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const hover = useSignal<Hover | null>(null);
  useEffect(() => {
    if (canvas.current === null) return;
    new TapePointer(canvas.current, model, hover);
    return keepDrawn(canvas.current, model, hover);
  }, [model]);
  return (
    <div class={styles.tape}>
      <TapeSlider canvas={canvas} model={model} />
      <TapeHover model={model} hover={hover} />
      <LaneTable model={model} />
    </div>
  );
};

/** Screen readers are told the time in seconds, and what there is. */
const TapeSlider = ({
  canvas,
  model,
}: {
  readonly canvas: { readonly current: HTMLCanvasElement | null };
  readonly model: TapeModel;
}) => {
  const { fromMs, spanMs } = model.view.value;
  const timeMs = Math.floor(model.timeMs.value / SECOND_MS) * SECOND_MS;
  const { value: large } = model.large;
  return (
    <canvas
      ref={canvas}
      class={styles.canvas}
      role="slider"
      tabIndex={0}
      aria-label={archiveText('tape')}
      aria-description={archiveText('tapeKeys')}
      aria-valuemin={Math.round(fromMs / SECOND_MS)}
      aria-valuemax={Math.round((fromMs + spanMs) / SECOND_MS)}
      aria-valuenow={Math.round(timeMs / SECOND_MS)}
      aria-valuetext={`${model.zone.value.clock(timeMs)}, ${model.describe(large, timeMs)}`}
      onKeyDown={(event) => onKey(event, model)}
    />
  );
};
