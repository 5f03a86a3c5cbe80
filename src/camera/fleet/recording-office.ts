import type { RecordingFileState, RecordingNews } from '../messages.js';

/** Recordings are made in the workers: what these are told at their start, and who hears of it. */
export interface RecordingOffice {
  /** For the recorders of a new worker. */
  openWorker(workerName: string): Readonly<Record<string, unknown>>;
  /** The worker has ended, in whatever way. */
  closeWorker(workerName: string): void;
  onNews(cameraId: string, news: RecordingNews): void;
  /** Video frames of the camera could not be recorded. */
  onLost(cameraId: string, frames: number): void;
  /** What becomes of a file that a worker writes, though the camera may have left it. */
  onFile(
    workerName: string,
    cameraId: string,
    fileName: string,
    state: RecordingFileState,
    progress: SharedArrayBuffer | null,
  ): void;
  /** The camera's worker died. */
  onWorkerLost(cameraId: string): void;
}
