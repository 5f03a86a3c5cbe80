import { AppError } from '../../../src/base/errors.js';
import { createLogger } from '../../../src/base/log.js';
import type { Document } from '../../../src/live/documents.js';
import type { Admitted, Shown } from '../../../src/live/rtsp/admission.js';
import { RtspServer } from '../../../src/live/rtsp/server.js';
import { RtspViews } from '../../../src/live/rtsp/views.js';
import type { ViewerPlace } from '../../../src/live/viewer-place.js';
import { sourceKey } from '../../../src/ring/source-key.js';
import { selfSignedCertificate } from '../../support/fake-camera/certificate.js';
import { FakeClock } from '../../support/fake-clock.js';
import { RawClient, type RawPacket } from '../../support/raw-client.js';
import { nalOf } from '../../support/ring.js';
import { until } from '../../support/until.js';
import { TestCamera } from '../test-camera.js';

export const TCP = 'Transport: RTP/AVP/TCP;unicast;interleaved=0-1\r\n';

export const sequenceOf = ({ bytes }: RawPacket): number => bytes.readUInt16BE(2);
export const timestampOf = ({ bytes }: RawPacket): number => bytes.readUInt32BE(4);
export const ssrcOf = ({ bytes }: RawPacket): number => bytes.readUInt32BE(8);

/** Frames of one slice, which tells its number behind a header that packetizers know. */
export class SliceCamera extends TestCamera {
  protected override nal(number: number, isKey: boolean, lengthBytes: number): Buffer {
    const nal = nalOf(number, lengthBytes);
    nal[0] = isKey ? 0x65 : 0x41;
    nal.writeInt32LE(number, 1);
    return nal;
  }
}

/** The number of the frame that begins with this packet; null: none does (RFC 6184 §5.7, §5.8). */
const numberIn = ({ bytes }: RawPacket): number | null => {
  const type = bytes[12]! & 0x1f;
  if (type === 24) return null;
  if (type !== 28) return bytes.readInt32LE(13);
  return (bytes[13]! & 0x80) === 0 ? null : bytes.readInt32LE(14);
};

export const framesOn = (client: RawClient, channel = 0): number[] =>
  client.packets
    .filter((packet) => packet.channel === channel)
    .map(numberIn)
    .filter((number) => number !== null);

export const untilFrame = (client: RawClient, number: number): Promise<unknown> =>
  until(`frame ${number} comes`, () => framesOn(client).includes(number), {
    describe: () => `${framesOn(client).length} frames, the last ${framesOn(client).at(-1)}`,
  });

/** Cameras of the test, and the server that shows them; its time is the test's. */
export class RtspWatching {
  readonly clock = new FakeClock();
  readonly cameras = new Map<string, TestCamera>();
  readonly places = new Set<ViewerPlace>();
  /** Ends the viewings that are held now. */
  readonly endings: ((reason: 'camera_deleted' | 'access_withdrawn') => void)[] = [];
  readonly shown: Shown[] = [];
  /** What the next one that comes is refused for. */
  refusal: AppError | null = null;
  /** Cameras that send metadata, and who follows it. */
  readonly documents = new Map<string, Set<(document: Document) => void>>();
  readonly views: RtspViews;
  #server: RtspServer | null = null;

  private constructor() {
    this.views = new RtspViews({
      clock: this.clock,
      log: createLogger(() => {}),
      onChange: () => {},
      documents: {
        has: (cameraId) => this.documents.has(cameraId),
        follow: (cameraId, listener) => {
          this.documents.get(cameraId)?.add(listener);
          return () => void this.documents.get(cameraId)?.delete(listener);
        },
      },
      feeds: {
        isOnDemand: () => false,
        follow: (cameraId, listener) => {
          const camera = this.cameras.get(cameraId);
          if (camera !== undefined) return camera.follow(listener);
          listener(null);
          return () => {};
        },
      },
    });
  }

  static async start(isTls = false): Promise<RtspWatching> {
    const watching = new RtspWatching();
    watching.#server = await RtspServer.listen(
      {
        host: '127.0.0.1',
        port: 0,
        portVariable: 'RTSP_PORT',
        tls: isTls ? { pair: selfSignedCertificate(), renewed: { on: () => {} } } : null,
      },
      {
        clock: watching.clock,
        log: createLogger(() => {}),
        views: watching.views,
        guard: { attach: () => {} },
        access: (cameraId, stream, shown) => watching.#admit(sourceKey(cameraId, stream), shown),
      },
    );
    return watching;
  }

  get url(): string {
    return this.#server?.url ?? '';
  }

  addCamera(id: string): TestCamera {
    const camera = new SliceCamera();
    camera.arrivalMs = () => this.clock.monotonicMs();
    this.cameras.set(id, camera);
    return camera;
  }

  /** What the camera's own analytics tell. */
  tell(id: string, text: string, wallMs: number): void {
    for (const listener of this.documents.get(id) ?? []) listener({ bytes: Buffer.from(text), wallMs });
  }

  open(path: string): Promise<RawClient> {
    return RawClient.open(`${this.url}/${path}`);
  }

  /** Lets time pass by frames, so that what is sent by pace goes out in between. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      this.clock.advance(10);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async stop(): Promise<void> {
    this.views.stop();
    const closed = this.#server?.close();
    this.clock.advance(2_000);
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #admit(source: string, shown: Shown): Promise<Admitted> {
    this.shown.push(shown);
    const { refusal } = this;
    this.refusal = null;
    if (refusal !== null) return Promise.reject(refusal);
    if (!this.cameras.has(source)) return Promise.reject(new AppError('not_found', 'no such camera'));
    const place: ViewerPlace = {
      onEnd: (listener) => this.endings.push(listener),
      release: () => void this.places.delete(place),
    };
    this.places.add(place);
    return Promise.resolve({ place, source });
  }
}
