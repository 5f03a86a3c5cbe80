import { codeOf } from '../files/disk-fault.js';
import { disk } from './disk.js';

/** For anybody to read. */
const NO_FOLDER = "the camera's folder is a link or a file: put a folder there, or mount a disk";

/** Never the folders above it, nor through a link, which could lead anywhere: who reads and deletes follows none. */
export const makeCameraFolder = async (folder: string): Promise<void> => {
  try {
    await disk.mkdir(folder);
  } catch (fault) {
    if (codeOf(fault) !== 'EEXIST') throw fault;
    const found = await disk.lstat(folder);
    if (!found.isDirectory()) throw Object.assign(new Error(NO_FOLDER), { code: 'ENOTDIR' });
  }
};

/** Makes the names in a folder last. */
export const syncCameraFolder = async (folder: string): Promise<void> => {
  const descriptor = await disk.open(folder, 'r');
  try {
    await disk.fsync(descriptor);
  } finally {
    await disk.close(descriptor);
  }
};
