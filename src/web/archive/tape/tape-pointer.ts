import type { Signal } from '@preact/signals';
import { serviceNowMs } from '../../data/service-clock.js';
import { bounded, panned, pinched, timeAt, type View, zoomed } from './axis.js';
import { AXIS_PX, laneAt } from './draw-tape.js';
import { between } from './selection.js';
import type { Hover, TapeModel } from './tape-state.js';

/** Less than this is a click. */
const DRAG_PX = 4;
const WHEEL_ZOOM = 0.0016;

type Point = { readonly x: number; readonly y: number };
type Drag =
  | { readonly kind: 'scrub' }
  | { readonly kind: 'pan'; readonly start: View; readonly x: number }
  | { readonly kind: 'select'; readonly fromMs: number; readonly x: number }
  | { readonly kind: 'pinch'; readonly start: View; readonly from: readonly [number, number] };

/** Mouse, pen and fingers on a tape. */
export class TapePointer {
  readonly #canvas: HTMLCanvasElement;
  readonly #model: TapeModel;
  readonly #hover: Signal<Hover | null>;
  readonly #points = new Map<number, Point>();
  #drag: Drag | null = null;

  constructor(canvas: HTMLCanvasElement, model: TapeModel, hover: Signal<Hover | null>) {
    this.#canvas = canvas;
    this.#model = model;
    this.#hover = hover;
    canvas.addEventListener('pointerdown', this.#onDown);
    canvas.addEventListener('pointermove', this.#onMove);
    canvas.addEventListener('pointerup', this.#onUp);
    canvas.addEventListener('pointercancel', this.#onUp);
    canvas.addEventListener('pointerleave', () => {
      if (this.#drag === null) hover.value = null;
    });
    // Passive listeners may not keep the page from scrolling.
    canvas.addEventListener('wheel', this.#onWheel, { passive: false });
  }

  get #width(): number {
    return Math.max(this.#canvas.clientWidth, 1);
  }

  #pointOf(event: MouseEvent): Point {
    const { left, top } = this.#canvas.getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }

  #timeAt(x: number): number {
    const timeMs = timeAt(this.#model.view.peek(), x, this.#width);
    return Math.min(Math.max(timeMs, 0), serviceNowMs());
  }

  #look(view: View): void {
    this.#model.view.value = bounded(view, serviceNowMs());
  }

  readonly #onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const view = this.#model.view.peek();
    const { x } = this.#pointOf(event);
    const unit = event.deltaMode === 1 ? 30 : event.deltaMode === 2 ? 400 : 1;
    const across = event.shiftKey ? event.deltaY + event.deltaX : event.deltaX;
    if (Math.abs(across) > Math.abs(event.shiftKey ? 0 : event.deltaY))
      this.#look(panned(view, ((across * unit) / this.#width) * view.spanMs));
    else this.#look(zoomed(view, Math.exp(event.deltaY * unit * WHEEL_ZOOM), timeAt(view, x, this.#width)));
  };

  readonly #onDown = (event: PointerEvent): void => {
    if (event.button !== 0) return;
    this.#canvas.setPointerCapture(event.pointerId);
    const point = this.#pointOf(event);
    this.#points.set(event.pointerId, point);
    const view = this.#model.view.peek();
    const [first, second] = [...this.#points.values()];
    if (first !== undefined && second !== undefined) {
      // The first finger meant no moment.
      if (this.#drag?.kind === 'scrub') this.#model.onRelease(this.#timeAt(first.x));
      this.#drag = { kind: 'pinch', start: view, from: [first.x, second.x] };
    } else if (event.shiftKey) this.#drag = { kind: 'select', fromMs: this.#timeAt(point.x), x: point.x };
    else if (point.y < AXIS_PX - 14) this.#drag = { kind: 'pan', start: view, x: point.x };
    else {
      this.#drag = { kind: 'scrub' };
      this.#model.onScrub(this.#timeAt(point.x));
    }
    this.#hoverAt(point);
  };

  readonly #onMove = (event: PointerEvent): void => {
    const point = this.#pointOf(event);
    if (this.#points.has(event.pointerId)) this.#points.set(event.pointerId, point);
    this.#hoverAt(point);
    const drag = this.#drag;
    if (drag === null) return;
    const [first, second] = [...this.#points.values()];
    if (drag.kind === 'pinch' && first !== undefined && second !== undefined)
      this.#look(pinched(drag.start, drag.from, [first.x, second.x], this.#width));
    else if (drag.kind === 'pan')
      this.#look(panned(drag.start, ((drag.x - point.x) / this.#width) * drag.start.spanMs));
    else if (drag.kind === 'select' && Math.abs(point.x - drag.x) >= DRAG_PX)
      this.#model.selection.value = between(drag.fromMs, this.#timeAt(point.x));
    else if (drag.kind === 'scrub') this.#model.onScrub(this.#timeAt(point.x));
  };

  readonly #onUp = (event: PointerEvent): void => {
    const point = this.#pointOf(event);
    const drag = this.#drag;
    this.#points.delete(event.pointerId);
    if (this.#points.size > 0) return;
    this.#drag = null;
    if (drag?.kind === 'scrub') this.#model.onRelease(this.#timeAt(point.x));
    // A finger that is gone points at nothing; what it tapped stays told.
    if (event.pointerType !== 'mouse' && drag?.kind !== 'scrub') this.#hover.value = null;
  };

  #hoverAt({ x, y }: Point): void {
    const { names, large } = this.#model;
    const camera = names.value[laneAt(y, names.value.length)]?.id ?? large.value;
    const timeMs = timeAt(this.#model.view.peek(), x, this.#width);
    this.#hover.value = timeMs > serviceNowMs() ? null : { x, timeMs, camera };
  }
}
