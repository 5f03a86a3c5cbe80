/** The service's part of the WHEP benchmark, in a process of its own: forked by whep.ts, so that its CPU is its alone. */
import { availableParallelism, tmpdir } from 'node:os';
import { RootState } from '../src/archive/root-state.js';
import { RecordingDesk } from '../src/archive/write/recording-desk.js';
import { systemClock } from '../src/base/clock.js';
import { createLogger } from '../src/base/log.js';
import { Cameras } from '../src/camera/fleet/cameras.js';
import { spawnCameraWorker } from '../src/camera/fleet/worker-thread.js';
import { openUdpDoor } from '../src/live/whep/door/udp-door.js';
import { WhepService } from '../src/live/whep/service.js';
import { spawnWhepWorker } from '../src/live/whep/worker-thread.js';

export type ToWhepEngine =
  | { readonly type: 'cameras'; readonly urls: readonly string[] }
  | { readonly type: 'offer'; readonly viewer: number; readonly cameraId: string; readonly sdp: string }
  | { readonly type: 'usage' }
  | { readonly type: 'stop' };

export type FromWhepEngine =
  | { readonly type: 'streaming' }
  | { readonly type: 'answer'; readonly viewer: number; readonly sdp: string }
  | {
      readonly type: 'usage';
      readonly cpuMs: number;
      readonly rssMb: number;
      readonly droppedFrames: number;
    };

const log = createLogger((level, message, fields) => {
  if (level === 'error') console.error(message, fields);
});
const send = (message: FromWhepEngine): void => void process.send?.(message);

const recordings = new RecordingDesk(
  { archiveDir: tmpdir(), fileSeconds: 3600, root: new RootState().memory },
  { clock: systemClock, log, recover: () => {}, onRefused: () => {} },
);
const cameras = new Cameras(
  { camerasPerWorker: 'auto', coreCount: availableParallelism() },
  { clock: systemClock, log, spawn: spawnCameraWorker, recordings },
);
const whep = new WhepService(
  {
    workerCount: availableParallelism(),
    udpPorts: { first: 54_000, last: 54_999 },
    addresses: () => ['127.0.0.1'],
  },
  {
    feeds: cameras,
    clock: systemClock,
    log,
    spawn: spawnWhepWorker,
    openDoor: openUdpDoor,
    threads: { add: () => () => {} },
    onChange: () => {},
  },
);

const streamAll = async (urls: readonly string[]): Promise<void> => {
  for (const [index, url] of urls.entries()) {
    const source = { url, transport: 'tcp' as const };
    cameras.setAll([
      {
        id: `camera-${index}`,
        source,
        host: `127.0.0.1:${index}`,
        disabled: false,
        isRecorded: false,
      },
    ]);
  }
  while (cameras.ids.some((id) => cameras.get(id)?.status().state !== 'streaming')) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  send({ type: 'streaming' });
};

const usage = (): FromWhepEngine => {
  const { user, system } = process.cpuUsage();
  const droppedFrames = cameras.ids.reduce((sum, id) => sum + whep.droppedFrames(id), 0);
  return {
    type: 'usage',
    cpuMs: (user + system) / 1000,
    rssMb: process.memoryUsage.rss() / 1e6,
    droppedFrames,
  };
};

process.on('message', async (message: ToWhepEngine) => {
  if (message.type === 'cameras') await streamAll(message.urls);
  else if (message.type === 'usage') send(usage());
  else if (message.type === 'offer') {
    const { answerSdp } = await whep.offer(
      message.cameraId,
      message.sdp,
      `viewer-${message.viewer}`,
      () => {},
    );
    send({ type: 'answer', viewer: message.viewer, sdp: answerSdp });
  } else {
    await whep.stop();
    await cameras.stop();
    process.disconnect();
  }
});
