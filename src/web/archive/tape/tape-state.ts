import { type Signal, signal } from '@preact/signals';
import type { View } from './axis.js';
import type { Lane } from './lane.js';
import { NO_SELECTION, type Selection } from './selection.js';
import type { Zone } from './zone.js';

/** What a tape shows, and what is done to it. */
export type TapeModel = {
  readonly view: Signal<View>;
  readonly timeMs: { readonly value: number };
  readonly selection: Signal<Selection>;
  readonly lanes: { readonly value: ReadonlyMap<string, Lane> };
  readonly names: { readonly value: readonly { readonly id: string; readonly name: string }[] };
  readonly large: { readonly value: string };
  readonly zone: { readonly value: Zone };
  /** The labels of a moment, and what else is there, in words. */
  readonly describe: (camera: string, timeMs: number) => string;
  readonly onScrub: (timeMs: number) => void;
  readonly onRelease: (timeMs: number) => void;
  readonly onStep: (byMs: number) => void;
};

/** Where the pointer is on a tape. */
export type Hover = { readonly x: number; readonly timeMs: number; readonly camera: string };

export const newSelection = (): Signal<Selection> => signal(NO_SELECTION);
