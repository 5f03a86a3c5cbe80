import { join } from 'node:path';
import { archiveError } from '../archive-error.js';
import { parseRecordingName, type RecordingName } from './file-name.js';

const cameraIdPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

/** Whether a folder of this name may be a camera's. */
export const isCameraId = (name: string): boolean => cameraIdPattern.test(name);

/** The folder of a camera's recordings; throws `not_found` for what can be no camera's id. */
export const folderOf = (archiveDir: string, cameraId: string): string => {
  if (!isCameraId(cameraId)) throw archiveError('not_found', 'there is no such camera');
  return join(archiveDir, cameraId);
};

/** What a client's file name says; throws `bad_file_name` unless it is exactly one of ours. */
export const readName = (fileName: string): RecordingName => {
  const name = parseRecordingName(fileName);
  if (name === null) throw archiveError('bad_file_name', 'this is not the name of a recording');
  return name;
};
