import { CameraProcess } from '../test/support/fake-camera/camera-process.js';

export type GeneratedCameras = {
  readonly urls: readonly string[];
  /** Ends them; says how well they kept their schedule, and what they cost. */
  stop(): Promise<string>;
};

/** Starts cameras that send generated frames, each with its send time in its last 8 bytes. */
export const startCameras = async (options: {
  readonly count: number;
  readonly isPaced: boolean;
  readonly kbps: number;
  readonly framesPerSecond: number;
  readonly framesPerGop: number;
}): Promise<GeneratedCameras> => {
  const cameras = await CameraProcess.start({
    cameras: options.count,
    pattern: options.isPaced ? 'paced' : 'burst',
    stampSendTime: true,
    kbps: options.kbps,
    frameRateHz: options.framesPerSecond,
    framesPerGop: options.framesPerGop,
  });
  const end = async (): Promise<string> => {
    const { frames, lateFrames, maxLateMs, skippedFrames, cpuMs } = await cameras.report();
    await cameras.stop();
    return (
      `the cameras' process sent ${frames} frames, ${lateFrames} of them late (at most ${maxLateMs.toFixed(0)} ms), ` +
      `left out ${skippedFrames}, and used ${(cpuMs / 1000).toFixed(1)} s of CPU`
    );
  };
  let ending: Promise<string> | null = null;
  return {
    urls: cameras.urls,
    stop: () => {
      ending ??= end();
      return ending;
    },
  };
};
