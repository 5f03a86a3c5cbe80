import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

const OVERSCAN_ROWS = 6;

export type VirtualRows = {
  readonly scroller: { current: HTMLDivElement | null };
  readonly first: number;
  /** Behind the last one. */
  readonly end: number;
  readonly widthPx: number;
  readonly show: (index: number) => void;
};

/** Which of many rows of one height are to be drawn: those in sight, and a few beside them. `headPx` stays on top of them. */
export const useVirtualRows = (count: number, rowPx: number, headPx: number): VirtualRows => {
  const scroller = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState({ first: 0, end: 40, widthPx: 0 });
  const look = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const first = Math.max(0, Math.floor(element.scrollTop / rowPx) - OVERSCAN_ROWS);
    const end = first + Math.ceil(element.clientHeight / rowPx) + 2 * OVERSCAN_ROWS;
    const widthPx = element.clientWidth;
    setSeen((before) =>
      before.first === first && before.end === end && before.widthPx === widthPx
        ? before
        : { first, end, widthPx },
    );
  }, [rowPx]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(look);
    observer.observe(element);
    element.addEventListener('scroll', look, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', look);
    };
  }, [look]);
  useEffect(look, [count, look]);
  const show = (index: number): void => {
    const element = scroller.current;
    if (element === null) return;
    const top = index * rowPx;
    const bottom = top + rowPx + headPx - element.clientHeight;
    if (element.scrollTop > top) element.scrollTop = top;
    else if (element.scrollTop < bottom) element.scrollTop = bottom;
  };
  return {
    scroller,
    first: Math.min(seen.first, Math.max(0, count - 1)),
    end: Math.min(count, seen.end),
    widthPx: seen.widthPx,
    show,
  };
};
