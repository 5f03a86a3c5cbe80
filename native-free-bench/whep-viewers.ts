/** Viewers of the WHEP benchmark, in a process of their own: forked by whep.ts. */
import { systemClock } from '../src/base/clock.js';
import { STAMP_BYTES, sendTimeMs } from '../test/support/frame-generator.js';
import { WhepClient } from '../test/support/whep-client.js';

export type ToViewers =
  /** Makes another viewer, one that reads all it is sent or one that doesn't. */
  | { readonly type: 'join'; readonly reads: boolean }
  | { readonly type: 'answer'; readonly viewer: number; readonly sdp: string }
  | { readonly type: 'measure' }
  | { readonly type: 'report' }
  | { readonly type: 'stop' };

export type FromViewers =
  | { readonly type: 'offer'; readonly viewer: number; readonly sdp: string }
  | { readonly type: 'connected'; readonly viewer: number }
  | { readonly type: 'report'; readonly report: ViewersReport };

/** Of those who read. */
export type ViewersReport = {
  readonly readers: number;
  /** Last packet sent by the camera → whole frame at a viewer. */
  readonly latenciesMs: readonly number[];
  readonly packets: number;
  readonly bytes: number;
  readonly missingPackets: number;
  readonly cpuMs: number;
};

const TAG_BYTES = 10;
/** RTP's header and that of a fragment: a time that is cut in two is left out. */
const HEADER_BYTES = 14;

const viewers: WhepClient[] = [];
const readers = new Set<WhepClient>();
let latenciesMs: number[] = [];
let counted = { packets: 0, bytes: 0, cpuMs: 0 };
let missingPackets = 0;
let isMeasuring = false;

const send = (message: FromViewers): void => void process.send?.(message);

/** Counts what is missing by the sequence numbers, and opens the last packet of each frame for its time. */
const observe = (viewer: WhepClient): void => {
  let expected = -1;
  viewer.onPacket = (packet) => {
    const sequence = packet.readUInt16BE(2);
    if (expected >= 0 && isMeasuring) missingPackets += (sequence - expected) & 0xffff;
    expected = (sequence + 1) & 0xffff;
    const isLast = packet[1]! >= 0x80;
    if (!isLast || !isMeasuring || packet.length < HEADER_BYTES + STAMP_BYTES + TAG_BYTES) return;
    const nowMs = systemClock.monotonicMs();
    const plain = viewer.open(packet);
    latenciesMs.push(nowMs - sendTimeMs(plain));
  };
};

const totals = (): { packets: number; bytes: number; cpuMs: number } => {
  const { user, system } = process.cpuUsage();
  return {
    packets: [...readers].reduce((sum, { packets }) => sum + packets, 0),
    bytes: [...readers].reduce((sum, { bytes }) => sum + bytes, 0),
    cpuMs: (user + system) / 1000,
  };
};

const join = async (reads: boolean): Promise<void> => {
  const viewer = await WhepClient.create({ countOnly: true });
  if (reads) {
    readers.add(viewer);
    observe(viewer);
  }
  viewers.push(viewer);
  send({ type: 'offer', viewer: viewers.length - 1, sdp: viewer.offer });
};

const start = async (index: number, sdp: string): Promise<void> => {
  const viewer = viewers[index]!;
  viewer.start(sdp);
  while (!viewer.isConnected || viewer.packets === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  if (!readers.has(viewer)) viewer.hearLittle();
  send({ type: 'connected', viewer: index });
};

process.on('message', async (message: ToViewers) => {
  switch (message.type) {
    case 'join':
      return join(message.reads);
    case 'answer':
      return start(message.viewer, message.sdp);
    case 'measure':
      latenciesMs = [];
      missingPackets = 0;
      counted = totals();
      isMeasuring = true;
      return;
    case 'report': {
      isMeasuring = false;
      const now = totals();
      const report = {
        readers: readers.size,
        latenciesMs,
        packets: now.packets - counted.packets,
        bytes: now.bytes - counted.bytes,
        missingPackets,
        cpuMs: now.cpuMs - counted.cpuMs,
      };
      return send({ type: 'report', report });
    }
    case 'stop':
      for (const viewer of viewers) viewer.close();
      process.disconnect();
  }
});
