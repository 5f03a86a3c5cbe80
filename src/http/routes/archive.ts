import type { Route } from '../route.js';
import { type DeletionRouteDeps, deletionRoute } from './archive/deletion.js';
import { type ExportRouteDeps, exportRoute } from './archive/export.js';
import { type FramesRouteDeps, framesRoute } from './archive/frames.js';
import { type ListRoutesDeps, listRoutes } from './archive/lists.js';
import { type PlaybackRoutesDeps, playbackRoutes } from './archive/playback.js';

export type ArchiveRoutesDeps = ListRoutesDeps &
  PlaybackRoutesDeps &
  FramesRouteDeps &
  ExportRouteDeps &
  DeletionRouteDeps;

/** Recordings: lists, playback, export and deletion. */
export const archiveRoutes = (deps: ArchiveRoutesDeps): Route[] => [
  ...listRoutes(deps),
  ...playbackRoutes(deps),
  framesRoute(deps),
  exportRoute(deps),
  deletionRoute(deps),
];
