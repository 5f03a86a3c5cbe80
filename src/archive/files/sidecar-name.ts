import { openName, parseBrokenName, parseRecordingName, parseUnclosedName } from './file-name.js';

const SUFFIX = '.detections';
const OPEN_SUFFIX = '_ongoing.mp4';

const stemOf = (startMs: number): string => openName(startMs).slice(0, -OPEN_SUFFIX.length);

/**
 * What was seen while a recording was made: `2026-11-21_08-30-00.detections`. It goes by the recording's start, which
 * closing doesn't change, so that none of them is ever renamed alone.
 */
export const sidecarName = (startMs: number): string => `${stemOf(startMs)}${SUFFIX}`;

/** The name while it is made anew. */
export const draftOf = (sidecar: string): string => `${sidecar}.new`;

const pattern = /^(.+)\.detections(?:\.(new|broken(?:-[1-9]\d{0,3})?))?$/;

/** A file of ours beside a recording. */
export type SidecarName = {
  /** When the recording begins. */
  readonly startMs: number;
  /** draft: it was being made anew; aside: it was moved aside with its recording. */
  readonly kind: 'current' | 'draft' | 'aside';
};

/** Null: it is none of these. */
export const parseSidecarName = (name: string): SidecarName | null => {
  const [, stem = '', rest] = pattern.exec(name) ?? [];
  const recording = parseRecordingName(`${stem}${OPEN_SUFFIX}`);
  if (recording === null) return null;
  return {
    startMs: recording.startMs,
    kind: rest === undefined ? 'current' : rest === 'new' ? 'draft' : 'aside',
  };
};

/** The sidecar that a file of ours has, if it has one: a recording, one that wasn't closed, or one moved aside. */
export const sidecarOf = (fileName: string): string | null => {
  const brokenMs = parseBrokenName(fileName);
  if (brokenMs !== null) return `${sidecarName(brokenMs)}${/\.broken(?:-\d+)?$/.exec(fileName)![0]}`;
  const recording = parseRecordingName(parseUnclosedName(fileName) ?? fileName);
  return recording === null ? null : sidecarName(recording.startMs);
};
