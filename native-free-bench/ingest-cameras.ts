import type { VideoCodec } from '../src/codec/track.js';
import { CameraProcess } from '../test/support/fake-camera/camera-process.js';
import type { CameraProcessReport } from '../test/support/fake-camera/main.js';

export type GeneratedCameras = {
  readonly urls: readonly string[];
  /** What they have sent, how late, and what that cost them, all processes together. */
  report(): Promise<CameraProcessReport>;
  /** Ends them; says how well they kept their schedule, and what they cost. */
  stop(): Promise<string>;
};

const sum = (reports: readonly CameraProcessReport[]): CameraProcessReport =>
  reports.reduce((all, one) => ({
    packets: all.packets + one.packets,
    bytes: all.bytes + one.bytes,
    frames: all.frames + one.frames,
    lateFrames: all.lateFrames + one.lateFrames,
    maxLateMs: Math.max(all.maxLateMs, one.maxLateMs),
    skippedFrames: all.skippedFrames + one.skippedFrames,
    cpuMs: all.cpuMs + one.cpuMs,
    playing: all.playing + one.playing,
    connectionsSeen: all.connectionsSeen + one.connectionsSeen,
    sessionsTornDown: all.sessionsTornDown + one.sessionsTornDown,
  }));

/** Starts cameras that send generated frames, each with its number and its send time in its last bytes. */
export const startCameras = async (options: {
  readonly count: number;
  readonly isPaced: boolean;
  readonly kbps: number;
  readonly framesPerSecond: number;
  readonly framesPerGop: number;
  readonly codec?: VideoCodec;
  /** They are spread over so many; one thread does all that one of them sends. */
  readonly processes?: number;
}): Promise<GeneratedCameras> => {
  const { count, codec = 'h264', processes = 1 } = options;
  const shares = Array.from(
    { length: processes },
    (_, index) => Math.floor((count * (index + 1)) / processes) - Math.floor((count * index) / processes),
  );
  const started = await Promise.all(
    shares.map((cameras) =>
      CameraProcess.start({
        ...{ cameras, codec, stampSendTime: true },
        // The service is gentle to a host that has many cameras; most have one.
        hosts: cameras,
        pattern: options.isPaced ? 'paced' : 'burst',
        kbps: options.kbps,
        frameRateHz: options.framesPerSecond,
        framesPerGop: options.framesPerGop,
      }),
    ),
  );
  const report = async (): Promise<CameraProcessReport> =>
    sum(await Promise.all(started.map((cameras) => cameras.report())));
  const end = async (): Promise<string> => {
    const { frames, lateFrames, maxLateMs, skippedFrames, cpuMs } = await report();
    await Promise.all(started.map((cameras) => cameras.stop()));
    return (
      `the cameras' process sent ${frames} frames, ${lateFrames} of them late (at most ${maxLateMs.toFixed(0)} ms), ` +
      `left out ${skippedFrames}, and used ${(cpuMs / 1000).toFixed(1)} s of CPU`
    );
  };
  let ending: Promise<string> | null = null;
  return {
    urls: started.flatMap(({ urls }) => urls),
    report,
    stop: () => {
      ending ??= end();
      return ending;
    },
  };
};
