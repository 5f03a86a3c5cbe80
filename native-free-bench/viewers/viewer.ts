import type { Seen } from './frame-watch.js';
import type { ViewerTarget } from './messages.js';

/** A viewer that has its first pictures: of a wall one for each tile, else a single one. */
export type Viewer = { readonly pictures: number; close(): void };

/** Opens a viewer; what it sees goes to `seen`. Resolves with its first picture. */
export type OpenViewer = (target: ViewerTarget, seen: Seen) => Promise<Viewer>;
