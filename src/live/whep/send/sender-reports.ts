import type { MonotonicMs, WallMs } from '../../../base/clock.js';
import { VIDEO_CLOCK_HZ } from '../../../codec/track.js';
import { writeSenderReport, writeSourceDescription } from '../../../rtp/rtcp-writer.js';
import type { AxisMoment } from '../packets/media-axis.js';
import type { AudioSender } from './audio-sender.js';
import type { VideoSender } from './video-sender.js';

const REPORT_BYTES = 128;

/** What a report needs of a sender. */
type Reported = {
  readonly ssrc: number;
  readonly packets: number;
  readonly octets: number;
  timestampAt(ticks: number): number;
};

const reportOf = (sender: Reported, ticks: number, wallMs: number, cname: string): Buffer => {
  const report = Buffer.alloc(REPORT_BYTES);
  const reportEnd = writeSenderReport(report, 0, sender.ssrc, {
    wallMs: wallMs as WallMs,
    rtpTimestamp: sender.timestampAt(ticks),
    packets: sender.packets,
    octets: sender.octets,
  });
  const end = writeSourceDescription(report, reportEnd, sender.ssrc, cname);
  return report.subarray(0, end);
};

/**
 * Sender reports (RFC 3550 §6.4.1) of both tracks for one moment of the camera's time axis, which they share: that
 * is how a player brings sound and picture together.
 */
export const writeReports = (
  video: VideoSender | null,
  audio: AudioSender | null,
  axis: AxisMoment,
  cname: string,
  nowMs: MonotonicMs,
): Buffer[] => {
  const reports: Buffer[] = [];
  if (video !== null) {
    const report = reportOf(video, axis.ticks, axis.wallMs, cname);
    video.roundTrips.onSent(report.readUInt32BE(10), nowMs);
    reports.push(report);
  }
  if (audio !== null) {
    const audioTicks = (axis.ticks / VIDEO_CLOCK_HZ) * audio.clockRateHz;
    reports.push(reportOf(audio, audioTicks, axis.wallMs, cname));
  }
  return reports;
};
