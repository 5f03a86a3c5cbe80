import type { RecordingOffice } from '../../src/camera/fleet/recording-office.js';

/** For tests in which nothing is recorded: notes what it hears. */
export class NoOffice implements RecordingOffice {
  readonly lost: number[] = [];
  readonly files: Parameters<RecordingOffice['onFile']>[] = [];

  openWorker(): Readonly<Record<string, unknown>> {
    return {};
  }

  closeWorker(): void {}

  onNews(): void {}

  onLost(_cameraId: string, frames: number): void {
    this.lost.push(frames);
  }

  onFile(...told: Parameters<RecordingOffice['onFile']>): void {
    this.files.push(told);
  }

  onWorkerLost(): void {}
}
