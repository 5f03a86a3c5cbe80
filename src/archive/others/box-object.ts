import { isCameraId } from '../files/archive-path.js';
import { parseRecordingName } from '../files/file-name.js';
import type { FileStamp } from '../files/scan-folder.js';
import { sidecarObject } from '../offsite/object-name.js';

/** A recording of another box, or what was seen in it, as jobs ask for it. */
export type BoxObject = {
  readonly cameraId: string;
  readonly fileName: string;
  readonly stamp: FileStamp;
  readonly isSidecar: boolean;
};

const PATTERN = /^([^/]+)\/([^/]+)\/([^/]+)$/;
const MP4 = '.mp4';

/** `ino_bytes_mtime_ctime/door/2026-11-21_08-30-00_to_09-30-00.mp4`: what is known of it, so that nothing of another one is kept for it. */
export const boxObject = (
  cameraId: string,
  fileName: string,
  { ino, sizeBytes, mtimeMs, ctimeMs }: FileStamp,
): string => `${ino}_${sizeBytes}_${mtimeMs}_${ctimeMs}/${cameraId}/${fileName}`;

/** Null: it is none. */
export const parseBoxObject = (text: string): BoxObject | null => {
  const [, stamp = '', cameraId = '', name = ''] = PATTERN.exec(text) ?? [];
  const [ino, sizeBytes, mtimeMs, ctimeMs] = stamp.split('_').map(Number);
  const isSidecar = !name.endsWith(MP4);
  const fileName = isSidecar ? name.slice(0, name.lastIndexOf('.')) + MP4 : name;
  if (!isCameraId(cameraId) || parseRecordingName(fileName) === null) return null;
  if (isSidecar && sidecarObject(fileName) !== name) return null;
  if (ino === undefined || sizeBytes === undefined || mtimeMs === undefined || ctimeMs === undefined)
    return null;
  return { cameraId, fileName, stamp: { ino, sizeBytes, mtimeMs, ctimeMs }, isSidecar };
};
