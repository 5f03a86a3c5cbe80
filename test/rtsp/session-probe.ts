import assert from 'node:assert/strict';
import { type Clock, systemClock } from '../../src/base/clock.js';
import { AppError } from '../../src/base/errors.js';
import { createLogger } from '../../src/base/log.js';
import type { RtspErrorCode } from '../../src/rtsp/errors.js';
import { RtspSession, type RtspSessionOptions } from '../../src/rtsp/session.js';

/** A session with everything that it told written down. */
export class SessionProbe {
  readonly session: RtspSession;
  readonly rtp: { trackIndex: number; payload: string }[] = [];
  readonly rtcp: { trackIndex: number; payload: string }[] = [];
  readonly ends: AppError[] = [];
  /** The transport from then on, each time that receivers had to begin anew. */
  readonly restarts: string[] = [];
  readonly logs: string[] = [];
  /** What `onRtp` does besides. */
  onRtp: () => void = () => {};

  constructor(options: RtspSessionOptions, clock: Clock = systemClock) {
    const text = (buffer: Buffer, start: number, end: number): string =>
      buffer.toString('latin1', start + 12, end);
    this.session = new RtspSession(options, {
      clock,
      log: createLogger((level, message, fields) => {
        this.logs.push(`${level} ${message} ${JSON.stringify(fields)}`);
      }),
      readBuffer: Buffer.alloc(262_144),
      handlers: {
        onRtp: (trackIndex, buffer, start, end) => {
          this.rtp.push({ trackIndex, payload: text(buffer, start, end) });
          this.onRtp();
        },
        onRtcp: (trackIndex, buffer, start, end) => {
          this.rtcp.push({ trackIndex, payload: text(buffer, start, end) });
        },
        onRestart: () => void this.restarts.push(this.session.transport),
        onEnd: (reason) => void this.ends.push(reason),
      },
    });
  }

  /** All steps, with all medias of the description. */
  async play(): Promise<void> {
    const description = await this.session.describe();
    await this.session.setup(description.medias);
    await this.session.play();
  }
}

/** Expects a rejection with this code; returns the error. */
export const rejection = async (code: RtspErrorCode, promise: Promise<unknown>): Promise<AppError> => {
  const error = await promise.then(
    () => assert.fail(`resolved instead of ${code}`),
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof AppError, String(error));
  assert.equal(error.code, code, error.message);
  return error;
};
