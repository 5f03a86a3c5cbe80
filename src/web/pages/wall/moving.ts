import { useEffect, useRef, useState } from 'preact/hooks';
import { onHappening } from '../../data/happenings.js';
import { preferences } from '../../data/preferences.js';
import { Enlarging } from './enlarging.js';

/** After so many seconds the next page of the wall comes, if the user wants that at all. */
export const tourChoices = [10, 20, 60] as const;

export const tourSec = (): number => {
  const { tourSec: wanted } = preferences.value;
  return typeof wanted === 'number' && wanted >= tourChoices[0] ? wanted : 0;
};

export const enlargesEvents = (): boolean => preferences.value.enlargesEvents === true;

const LOOK_EVERY_MS = 500;
const TOUCHES = ['pointerdown', 'keydown', 'wheel'] as const;
/** Whoever chooses or writes something, or sees what was enlarged, stays where they are. */
const BUSY = 'dialog[open], :popover-open, input:focus, [data-enlarged]';

/** Page after page, as long as nobody touches anything; `turn` goes on by one. */
export const useTour = (isOn: boolean, turn: () => void): void => {
  const sec = tourSec();
  const turnNow = useRef(turn);
  turnNow.current = turn;
  useEffect(() => {
    if (!isOn || sec === 0) return;
    let quietSinceMs = performance.now();
    const touch = (): void => {
      quietSinceMs = performance.now();
    };
    for (const name of TOUCHES) document.addEventListener(name, touch, { passive: true });
    const timer = setInterval(() => {
      if (document.hidden || document.querySelector(BUSY) !== null) touch();
      else if (performance.now() - quietSinceMs >= sec * 1_000) {
        touch();
        turnNow.current();
      }
    }, LOOK_EVERY_MS);
    return () => {
      clearInterval(timer);
      for (const name of TOUCHES) document.removeEventListener(name, touch);
    };
  }, [isOn, sec]);
};

/** The camera that is enlarged, if the user wants that; Escape makes it small again. */
export const useEnlarged = (cameraIds: readonly (string | null)[]): string | null => {
  const isOn = enlargesEvents();
  const [enlarging] = useState(() => new Enlarging());
  const [shown, setShown] = useState<string | null>(null);
  const here = cameraIds.join();
  useEffect(() => {
    const look = (): void =>
      setShown(isOn ? enlarging.shown(performance.now(), (id) => cameraIds.includes(id)) : null);
    look();
    if (!isOn) return;
    const stop = onHappening((happening) => {
      if (happening.topic !== 'events') return;
      const { type, camera_id: cameraId, to } = happening.set as Record<string, unknown>;
      const nowMs = performance.now();
      if (type === 'detection' && typeof cameraId === 'string')
        enlarging.begin(happening.id, cameraId, nowMs);
      if (typeof to === 'string') enlarging.end(happening.id, nowMs);
      look();
    });
    const dismiss = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape') return;
      enlarging.dismiss();
      look();
    };
    document.addEventListener('keydown', dismiss);
    const timer = setInterval(look, LOOK_EVERY_MS);
    return () => {
      stop();
      document.removeEventListener('keydown', dismiss);
      clearInterval(timer);
    };
  }, [isOn, here]);
  return shown;
};
