import type { RecordingOffice } from '../../src/camera/cameras.js';

/** For tests in which nothing is recorded. */
export class NoOffice implements RecordingOffice {
  openWorker(): Readonly<Record<string, unknown>> {
    return {};
  }

  closeWorker(): void {}

  onNews(): void {}

  onLeft(): void {}

  onWorkerLost(): void {}
}
