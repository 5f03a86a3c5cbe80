import { HeldBytes } from '../held-bytes.js';
import type { Route } from '../route.js';
import { type DeletionRouteDeps, deletionRoute } from './archive/deletion.js';
import { type DetectionsRouteDeps, detectionsRoute } from './archive/detections.js';
import { type ExportRouteDeps, exportRoute } from './archive/export.js';
import { type FramesRouteDeps, framesRoute } from './archive/frames.js';
import { type KeyFrameRoutesDeps, keyFrameRoutes } from './archive/key-frames.js';
import { type ListRoutesDeps, listRoutes } from './archive/lists.js';
import { type PlaybackRoutesDeps, playbackRoutes } from './archive/playback.js';
import { type SubtitleRoutesDeps, subtitleRoutes } from './archive/subtitles.js';
import { type TimelineRouteDeps, timelineRoute } from './archive/timeline.js';

export type ArchiveRoutesDeps = ListRoutesDeps &
  TimelineRouteDeps &
  DetectionsRouteDeps &
  PlaybackRoutesDeps &
  SubtitleRoutesDeps &
  KeyFrameRoutesDeps &
  FramesRouteDeps &
  ExportRouteDeps &
  DeletionRouteDeps;

/** A wall of 36 that plays whole segments of the largest cameras; and several such. */
const HELD = { maxBytes: 512_000_000, maxBytesOfViewer: 128_000_000 };

/** Recordings: lists, playback, export and deletion. */
export const archiveRoutes = (deps: ArchiveRoutesDeps): Route[] => {
  const held = new HeldBytes(HELD);
  return [
    ...listRoutes(deps),
    timelineRoute(deps),
    detectionsRoute(deps),
    ...playbackRoutes(deps, held),
    ...subtitleRoutes(deps),
    ...keyFrameRoutes(deps, held),
    framesRoute(deps),
    exportRoute(deps),
    deletionRoute(deps),
  ];
};
