import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

type WakeLock = { release(): Promise<void> };
type Waking = { readonly wakeLock?: { request(kind: 'screen'): Promise<WakeLock> } };

export type FullScreen = { readonly isOn: boolean; readonly mayBe: boolean; readonly toggle: () => void };

/** A part of the page on all of the screen, which stays awake for as long. */
export const useFullScreen = (element: RefObject<HTMLElement | null>): FullScreen => {
  const [isOn, setIsOn] = useState(false);
  useEffect(() => {
    const look = (): void => setIsOn(document.fullscreenElement !== null);
    document.addEventListener('fullscreenchange', look);
    return () => document.removeEventListener('fullscreenchange', look);
  }, []);
  useEffect(() => {
    if (!isOn) return;
    let lock: WakeLock | null = null;
    let isOver = false;
    // The browser takes it back whenever the page is hidden.
    const take = (): void => {
      const { wakeLock } = navigator as Waking;
      if (document.hidden || wakeLock === undefined) return;
      wakeLock
        .request('screen')
        .then((given) => {
          lock = given;
          if (isOver) void given.release();
        })
        .catch(() => {});
    };
    take();
    document.addEventListener('visibilitychange', take);
    return () => {
      isOver = true;
      document.removeEventListener('visibilitychange', take);
      void lock?.release();
    };
  }, [isOn]);
  const toggle = (): void => {
    if (document.fullscreenElement !== null) void document.exitFullscreen();
    else element.current?.requestFullscreen?.().catch(() => {});
  };
  return { isOn, mayBe: document.fullscreenEnabled, toggle };
};
