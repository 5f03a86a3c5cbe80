import { randomBytes } from 'node:crypto';
import { type Clock, systemClock } from '../../../src/base/clock.js';
import { createLogger } from '../../../src/base/log.js';
import type { StreamInfo } from '../../../src/codec/track.js';
import { openUdpDoor, type UdpDoor } from '../../../src/live/whep/door/udp-door.js';
import type { FromWhepWorker } from '../../../src/live/whep/messages.js';
import type { Remote } from '../../../src/live/whep/path/ice-lite.js';
import { claimedUfrag } from '../../../src/live/whep/path/stun.js';
import { makeCertificate } from '../../../src/live/whep/secure/certificate.js';
import { WhepWorker } from '../../../src/live/whep/whep-worker.js';
import type { RingOptions } from '../../../src/ring/capacity.js';
import { Bell } from '../../../src/ring/doorbell.js';
import { frameFlag } from '../../../src/ring/frame-flag.js';
import { RingWriter } from '../../../src/ring/writer.js';
import { stampOf, streamInfo } from '../../support/ring.js';
import { until } from '../../support/until.js';
import { type ClientOptions, WhepClient } from '../../support/whep-client.js';

export const TICKS_PER_FRAME = 3_600;
const FRAME_MS = 40;
export const SPS = Buffer.from([0x67, 0x42, 0xe0, 0x1f, 1, 2, 3]);
export const PPS = Buffer.from([0x68, 0xce, 4, 5]);

export const h264 = (
  changes: Partial<StreamInfo['video']> = {},
  audio: StreamInfo['audio'] = null,
): StreamInfo => ({
  video: { ...streamInfo(1).video, sps: [SPS], pps: [PPS], codecString: 'avc1.42e01f', ...changes },
  audio,
});

export const pcmu: NonNullable<StreamInfo['audio']> = {
  codec: 'pcmu',
  clockRateHz: 8_000,
  channels: 1,
  config: new Uint8Array(0),
  codecString: 'ulaw',
};

/** A camera without a camera: slices of random bytes in a ring of this thread. */
export class TestCamera {
  readonly id: string;
  readonly bell = new Bell();
  /** The NAL units of each video frame that was written. */
  readonly slices: Buffer[] = [];
  ring: SharedArrayBuffer;
  readonly #writer: RingWriter;
  readonly #clock: Clock;

  constructor(
    id: string,
    clock: Clock,
    onReplaced: (camera: TestCamera) => void,
    options: Partial<RingOptions> = {},
  ) {
    this.id = id;
    this.#clock = clock;
    this.#writer = new RingWriter(options, {
      bell: this.bell,
      onReplaced: (ring) => {
        this.ring = ring;
        onReplaced(this);
      },
    });
    this.ring = this.#writer.ring;
    this.describe(h264());
  }

  describe(info: StreamInfo): void {
    this.#writer.setStreamInfo(info);
  }

  /** A frame of one slice; its time is its number's, unless told otherwise. */
  write(isKey: boolean, lengthBytes = 600, ptsTicks = this.slices.length * TICKS_PER_FRAME): void {
    const slice = randomBytes(lengthBytes);
    slice[0] = isKey ? 0x65 : 0x41;
    this.slices.push(slice);
    const writer = this.#writer;
    writer.beginNal();
    for (let at = 0; at < slice.length; at += 1_400) {
      writer.append(slice, at, Math.min(at + 1_400, slice.length));
    }
    writer.endNal();
    const wallMs = 1_700_000_000_000 + ptsTicks / 90;
    const flags = isKey ? frameFlag.key : 0;
    writer.commitVideo(stampOf({ ptsTicks, wallMs, arrivalMs: this.#clock.monotonicMs(), flags }));
    this.bell.ringIfNeeded();
  }

  /** One packet of sound that belongs to the newest frame's time. */
  writeAudio(bytes: Buffer, ptsTicks: number): void {
    const wallMs = 1_700_000_000_000 + ptsTicks / 8;
    const stamp = stampOf({ ptsTicks, wallMs, arrivalMs: this.#clock.monotonicMs() });
    this.#writer.writeAudio(bytes, 0, bytes.length, stamp);
    this.bell.ringIfNeeded();
  }

  /** A keyframe and so many others. */
  writeGop(frames: number, keyBytes = 3_000): void {
    for (let frame = 0; frame < frames; frame += 1) this.write(frame === 0, frame === 0 ? keyBytes : 900);
  }

  /** Goes on at the camera's own pace until it is disposed of. */
  run(framesPerGop: number): Disposable {
    let frame = 0;
    const timer = setInterval(() => {
      this.write(frame % framesPerGop === 0, 900);
      frame += 1;
    }, FRAME_MS);
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }
}

/** A WHEP worker in this thread, with cameras and viewers of the test's own. */
export class WhepHarness {
  readonly clock: Clock;
  readonly worker: WhepWorker;
  readonly messages: FromWhepWorker[] = [];
  readonly clients: WhepClient[] = [];
  readonly logged: string[] = [];
  readonly #door: UdpDoor;
  #sessions = 0;

  private constructor(clock: Clock, door: UdpDoor) {
    this.clock = clock;
    this.#door = door;
    this.worker = new WhepWorker(
      {
        certificate: makeCertificate(this.clock.wallMs()),
        udpPort: door.port,
      },
      {
        clock: this.clock,
        log: createLogger((level, message, fields) =>
          this.logged.push(`${level} ${message} ${JSON.stringify(fields)}`),
        ),
        send: (message) => this.messages.push(message),
      },
    );
  }

  static async start(clock: Clock = systemClock): Promise<WhepHarness> {
    let harness: WhepHarness | null = null;
    const anyPort = { first: 0, last: 0 };
    const door = await openUdpDoor(anyPort, (datagram, from) => harness?.onStranger(datagram, from));
    if (door === null) throw new Error('there is no UDP port');
    harness = new WhepHarness(clock, door);
    return harness;
  }

  /** As the main thread does with what no session's socket hears. */
  onStranger(datagram: Buffer, from: Remote): void {
    const sessionId = claimedUfrag(datagram)?.replace(/^ufrag-/, '');
    if (sessionId !== undefined) this.worker.handle({ type: 'check', sessionId, datagram, from });
  }

  addCamera(id = 'door', options: Partial<RingOptions> = {}): TestCamera {
    const camera = new TestCamera(id, this.clock, (replaced) => this.feed(replaced), options);
    this.feed(camera);
    return camera;
  }

  feed({ id, ring, bell }: TestCamera): void {
    this.worker.handle({ type: 'feed', cameraId: id, ring, bell: bell.memory, bellId: 1 });
  }

  /** Sends an offer; the answer, or the code of the refusal. */
  async offer(
    sdp: string,
    cameraId = 'door',
  ): Promise<{ id: string; answer: string | null; code: string | null }> {
    this.#sessions += 1;
    const id = `session-${this.#sessions}`;
    const addresses = ['127.0.0.1'];
    this.worker.handle({ type: 'offer', sessionId: id, iceUfrag: `ufrag-${id}`, cameraId, addresses, sdp });
    return await until('the offer is answered', () => {
      for (const message of this.messages) {
        if (message.type === 'answer' && message.sessionId === id)
          return { id, answer: message.sdp, code: null };
        if (message.type === 'refused' && message.sessionId === id)
          return { id, answer: null, code: message.code };
      }
      return null;
    });
  }

  /** A viewer whose handshakes are done. */
  async watch(options: ClientOptions = {}, cameraId = 'door'): Promise<{ id: string; client: WhepClient }> {
    const client = await WhepClient.create(options);
    this.clients.push(client);
    const { id, answer, code } = await this.offer(client.offer, cameraId);
    if (answer === null) throw new Error(`refused: ${code}`);
    client.start(answer);
    await until('the viewer is connected', () => client.isConnected, {
      deadlineMs: 60_000,
      describe: () => JSON.stringify({ messages: this.messages.slice(1), log: this.logged }),
    });
    return { id, client };
  }

  endOf(id: string): string | null {
    for (const message of this.messages) {
      if (message.type === 'ended' && message.sessionId === id) return message.reason;
    }
    return null;
  }

  [Symbol.dispose](): void {
    this.worker.stop();
    this.#door.close();
    for (const client of this.clients) client.close();
  }
}
