import type { Seen } from './frame-watch.js';
import type { ViewerTarget } from './messages.js';

/** A viewer that has its first pictures: of a wall one for each tile, else a single one. */
export type Viewer = { readonly pictures: number; close(): void };

/** Tells what became of an attempt: `onFirst` is the first picture, or that there will be none, for which `seen` has a fault. */
export type OpenViewer = (target: ViewerTarget, seen: Seen, onFirst: () => void) => Viewer;
