import type { Rung } from './ladder.js';

/** What shows a tile's pictures, whatever it is: an element of its own, and an end. */
export type Screen = {
  readonly element: HTMLElement;
  close(): void;
};

/** What a screen that gets its pictures by itself tells of them. */
export type ScreenEvents = {
  /** A picture came; `wallMs` where the service's wall clock of it is known. */
  onPicture(wallMs: number): void;
  onFailed(kind: 'codec' | 'failed', message: string): void;
};

export type ScreenOptions = ScreenEvents & {
  readonly cameraId: string;
  readonly stream: 'main' | 'sub';
  readonly everyMs: number;
  readonly hasSound: boolean;
};

export type ScreenMaker = (options: ScreenOptions) => Screen;

/** Those that few need are loaded when they are needed. */
export const makerOf = async (rung: Exclude<Rung, 'webcodecs' | 'mse'>): Promise<ScreenMaker> => {
  if (rung === 'stills') return (await import('./stills.js')).stillsScreen;
  if (rung === 'whep') return (await import('./whep.js')).whepScreen;
  return (await import('./hls.js')).hlsScreen;
};
