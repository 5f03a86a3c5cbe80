import type { Route } from '../route.js';
import { type DeletionRouteDeps, deletionRoute } from './archive/deletion.js';
import { type ExportRouteDeps, exportRoute } from './archive/export.js';
import { type FramesRouteDeps, framesRoute } from './archive/frames.js';
import { type KeyFrameRoutesDeps, keyFrameRoutes } from './archive/key-frames.js';
import { type ListRoutesDeps, listRoutes } from './archive/lists.js';
import { type PlaybackRoutesDeps, playbackRoutes } from './archive/playback.js';
import { type TimelineRouteDeps, timelineRoute } from './archive/timeline.js';

export type ArchiveRoutesDeps = ListRoutesDeps &
  TimelineRouteDeps &
  PlaybackRoutesDeps &
  KeyFrameRoutesDeps &
  FramesRouteDeps &
  ExportRouteDeps &
  DeletionRouteDeps;

/** Recordings: lists, playback, export and deletion. */
export const archiveRoutes = (deps: ArchiveRoutesDeps): Route[] => [
  ...listRoutes(deps),
  timelineRoute(deps),
  ...playbackRoutes(deps),
  ...keyFrameRoutes(deps),
  framesRoute(deps),
  exportRoute(deps),
  deletionRoute(deps),
];
