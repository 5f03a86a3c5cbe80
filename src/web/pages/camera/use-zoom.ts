import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { moved, WHOLE, type Zoom, zoomedAt } from './zoom.js';

const WHEEL_STEP = 0.0015;
const SWIPE_PX = 60;

type Point = { readonly x: number; readonly y: number };
export type Zooming = {
  readonly zoom: Zoom;
  readonly by: (factor: number) => void;
  readonly reset: () => void;
};

const centre = (points: readonly Point[]): Point => ({
  x: points.reduce((sum, { x }) => sum + x, 0) / points.length,
  y: points.reduce((sum, { y }) => sum + y, 0) / points.length,
});

const apart = ([a, b]: readonly Point[]): number =>
  a === undefined || b === undefined ? 1 : Math.hypot(a.x - b.x, a.y - b.y);

/** Wheel, pinch and drag over an element; a swipe of one finger over the whole picture leads to a sibling. */
export const useZoom = (frame: RefObject<HTMLElement | null>, onSwipe: (by: 1 | -1) => void): Zooming => {
  const [zoom, setZoom] = useState(WHOLE);
  const current = useRef(zoom);
  current.current = zoom;
  const swipe = useRef(onSwipe);
  swipe.current = onSwipe;
  const set = (next: Zoom): void => {
    current.current = next;
    setZoom(next);
  };
  const sizeOf = () => ({
    width: frame.current?.clientWidth ?? 1,
    height: frame.current?.clientHeight ?? 1,
  });
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const fingers = new Map<number, Point>();
    let startX = 0;
    let wasPinch = false;
    const pointOf = (event: MouseEvent): Point => {
      const { left, top } = element.getBoundingClientRect();
      return { x: event.clientX - left, y: event.clientY - top };
    };
    const onWheel = (event: WheelEvent): void => {
      event.preventDefault();
      set(zoomedAt(current.current, Math.exp(-event.deltaY * WHEEL_STEP), pointOf(event), sizeOf()));
    };
    const onDown = (event: PointerEvent): void => {
      if ((event.target as Element).closest('button, a, aside') !== null) return;
      fingers.set(event.pointerId, pointOf(event));
      wasPinch = fingers.size > 1;
      startX = event.clientX;
      element.setPointerCapture(event.pointerId);
    };
    const onMove = (event: PointerEvent): void => {
      if (!fingers.has(event.pointerId)) return;
      const before = [...fingers.values()];
      fingers.set(event.pointerId, pointOf(event));
      const now = [...fingers.values()];
      const [from, to] = [centre(before), centre(now)];
      const panned = moved(current.current, to.x - from.x, to.y - from.y, sizeOf());
      set(now.length > 1 ? zoomedAt(panned, apart(now) / apart(before), to, sizeOf()) : panned);
    };
    const onUp = (event: PointerEvent): void => {
      if (!fingers.delete(event.pointerId) || fingers.size > 0) return;
      const byPx = event.clientX - startX;
      const isSwipe = event.pointerType === 'touch' && !wasPinch && current.current.factor === 1;
      if (isSwipe && event.type === 'pointerup' && Math.abs(byPx) > SWIPE_PX)
        swipe.current(byPx < 0 ? 1 : -1);
    };
    // A frame of another form shows no less of the picture than it can.
    const resizes = new ResizeObserver(() => set(moved(current.current, 0, 0, sizeOf())));
    resizes.observe(element);
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('pointerdown', onDown);
    element.addEventListener('pointermove', onMove);
    element.addEventListener('pointerup', onUp);
    element.addEventListener('pointercancel', onUp);
    return () => {
      resizes.disconnect();
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('pointerdown', onDown);
      element.removeEventListener('pointermove', onMove);
      element.removeEventListener('pointerup', onUp);
      element.removeEventListener('pointercancel', onUp);
    };
  }, [frame.current]);
  const by = (factor: number): void => {
    const size = sizeOf();
    set(zoomedAt(current.current, factor, { x: size.width / 2, y: size.height / 2 }, size));
  };
  return { zoom, by, reset: () => set(WHOLE) };
};
