import { isBoxName } from '../../base/box-name.js';
import { isCameraId } from '../files/archive-path.js';
import { closedName, parseRecordingName, type RecordingName } from '../files/file-name.js';

/** What an object's name says: of which recording it is, and who put it there. */
export type ObjectName = {
  readonly cameraId: string;
  /** A closed recording's. */
  readonly recording: RecordingName;
  /** Above 0: somebody else has the name with a lower one. */
  readonly epoch: number;
  readonly box: string;
};

const DAY_LENGTH = '2026-11-21'.length;
const RECORDING_LENGTH = '2026-11-21_08-30-00_to_09-30-00'.length;
const PATTERN = /^([^/]+)\/([^/]{10})\/([^/]{31})_(0|[1-9]\d{0,8})_([^/_]+)\.mp4$/;

/** `door/2026-11-21/2026-11-21_08-30-00_to_09-30-00_0_box.mp4`. */
export const objectName = ({ cameraId, recording, epoch, box }: ObjectName): string => {
  const fileName = closedName(recording.startMs, recording.endMs ?? recording.startMs);
  const stem = fileName.slice(0, RECORDING_LENGTH);
  return `${cameraId}/${stem.slice(0, DAY_LENGTH)}/${stem}_${epoch}_${box}.mp4`;
};

/** What the names of a day's recordings begin with. */
export const dayFolder = (cameraId: string, startMs: number): string =>
  `${cameraId}/${closedName(startMs, startMs).slice(0, DAY_LENGTH)}/`;

/** Where a recording of a camera is. */
export const objectOf = (cameraId: string, { recording, epoch, box }: Omit<ObjectName, 'cameraId'>): string =>
  objectName({ cameraId, recording, epoch, box });

/** What was seen in it, beside it. */
export const sidecarObject = (object: string): string => object.replace(/\.mp4$/, '.detections');

/** Null: it is none of these. */
export const parseObjectName = (text: string): ObjectName | null => {
  const [, cameraId = '', day = '', stem = '', epoch = '', box = ''] = PATTERN.exec(text) ?? [];
  const recording = parseRecordingName(`${stem}.mp4`);
  if (recording?.endMs == null || !isCameraId(cameraId) || !isBoxName(box)) return null;
  if (!stem.startsWith(day)) return null;
  return { cameraId, recording, epoch: Number(epoch), box };
};
