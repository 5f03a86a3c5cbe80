import { archiveError } from '../../src/archive/archive-error.js';
import { FrameWriter, withLength } from '../../src/archive/frames/frame-writer.js';
import type { FrameArchive, FrameReading } from '../../src/pictures/recorded-keyframe.js';
import { videoConfigMessage } from '../../src/wire/config-message.js';
import { FrameHead } from '../../src/wire/frame-head.js';
import { gapMessage } from '../../src/wire/gap-message.js';
import { infoOf } from '../mpegts/mux.js';
import { fixtures } from '../support/fixtures.js';

const STREAM = 1;

/** An archive with a keyframe 0.4 s before each moment, always of the same picture. */
export class FakeKeyframes implements FrameArchive {
  readonly asked: string[] = [];
  /** Readings that were not closed. */
  open = 0;
  isDeleted = false;
  isDamaged = false;

  async frames(cameraId: string, { atMs }: { readonly atMs: number }): Promise<FrameReading> {
    this.asked.push(`${cameraId} ${atMs}`);
    if (this.isDeleted) throw archiveError('not_found', 'nothing was recorded until this moment');
    this.open += 1;
    return {
      read: () => this.#messages(atMs - 400),
      close: () => {
        this.open -= 1;
      },
    };
  }

  async *#messages(wallMs: number): AsyncGenerator<Buffer> {
    const writer = new FrameWriter(1_000);
    writer.addMessage(videoConfigMessage(STREAM, infoOf(fixtures.h264High()).video));
    const { bytes } = fixtures.h264High().frames[0]!;
    const frame = this.isDamaged ? bytes.subarray(0, -1) : bytes;
    const head = Object.assign(new FrameHead(), { stream: STREAM, wallUs: wallMs * 1000 });
    writer.addFrame(head, frame.length, true, (target) => frame.copy(target));
    yield Buffer.from(writer.finish());
    yield withLength(gapMessage(STREAM, wallMs * 1000, wallMs * 1000 + 400_000, 'camera_away'));
  }
}
