import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Child } from '../../native-free-bench/child.js';
import type { ClientsAnswer, ClientsQuestion } from '../../native-free-bench/websocket-clients.js';
import { brightRectangleModel } from '../support/bright-rectangle-model.js';
import { CameraProcess } from '../support/fake-camera/camera-process.js';
import { type RunningService, startService } from '../support/service.js';
import { until } from '../support/until.js';

export type RigOptions = {
  readonly cameras: number;
  /** WebSocket viewers; the cameras have them in turn. */
  readonly viewers: number;
  /** '': the small network that the tests make. */
  readonly model: string;
  readonly kbps: number;
  readonly fps: number;
  readonly gop: number;
  readonly size: string;
};

const MODEL_SIDE = 128;
const VIDEO_SECONDS = 8;
const patient = { deadlineMs: 120_000 };

/** Moving pictures with something bright in them, as a camera encodes them. */
const encode = (path: string, { kbps, fps, gop, size }: RigOptions): void => {
  const source = [
    `testsrc2=size=${size}:rate=${fps}:duration=${VIDEO_SECONDS}`,
    "lutyuv=y='val*0.25'",
    "drawbox=x='iw/4+t*iw/40':y=ih/4:w=iw/8:h=ih/4:color=white:t=fill",
  ].join(',');
  const rate = ['-b:v', `${kbps}k`, '-maxrate', `${kbps}k`, '-bufsize', `${kbps}k`];
  // One slice a picture, CABAC: what `stampable` wants.
  const slices = ['-profile:v', 'main', '-preset', 'veryfast', '-slices', '1', '-bf', '0'];
  execFileSync('ffmpeg', [
    ...['-v', 'error', '-y', '-f', 'lavfi', '-i', source, '-pix_fmt', 'yuv420p', '-c:v', 'libx264'],
    ...[...slices, '-threads', '1', '-g', String(gop), '-sc_threshold', '0', ...rate, path],
  ]);
};

/** The model that the service is to use, as its file's name. */
const placeModel = (folder: string, path: string): string => {
  mkdirSync(folder);
  if (path === '') {
    writeFileSync(join(folder, 'bright.onnx'), brightRectangleModel(MODEL_SIDE));
    writeFileSync(join(folder, 'bright.json'), JSON.stringify({ labels: ['lamp'] }));
    return 'bright.onnx';
  }
  copyFileSync(path, join(folder, basename(path)));
  const description = path.replace(/\.onnx$/, '.json');
  if (existsSync(description)) copyFileSync(description, join(folder, basename(description)));
  return basename(path);
};

/** The sum of all series of a metric that match. */
export const sumOf = (metrics: string, series: RegExp): number =>
  metrics
    .split('\n')
    .filter((line) => series.test(line))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);

/** The service, its cameras and its viewers, in processes of their own. */
export class Rig {
  readonly service: RunningService;
  readonly source: CameraProcess;
  readonly clients: Child<ClientsQuestion, ClientsAnswer>;
  readonly #ids: readonly string[];
  readonly #token: string;
  readonly #folder: string;

  private constructor(
    parts: Pick<Rig, 'service' | 'source' | 'clients'>,
    ids: readonly string[],
    token: string,
    folder: string,
  ) {
    this.service = parts.service;
    this.source = parts.source;
    this.clients = parts.clients;
    this.#ids = ids;
    this.#token = token;
    this.#folder = folder;
  }

  static async start(options: RigOptions): Promise<Rig> {
    const folder = mkdtempSync(join(tmpdir(), 'framering-detect-'));
    const videoPath = join(folder, 'camera.264');
    encode(videoPath, options);
    const model = placeModel(join(folder, 'models'), options.model);
    const env = { DATA_DIR: folder, DETECT_MODEL: model, LOG_LEVEL: 'warn' };
    const service = await startService(env);
    const pump = { pattern: 'paced', stampSendTime: true, frameRateHz: options.fps, videoPath } as const;
    const source = await CameraProcess.start({ cameras: options.cameras, ...pump });
    const token = await service.login('admin', service.adminPassword);
    const ids = source.urls.map((_, index) => `camera-${index}`);
    const entry = new URL('../../native-free-bench/websocket-clients.js', import.meta.url);
    const rig = new Rig({ service, source, clients: new Child(entry) }, ids, token, folder);
    await rig.#ask('create', (id, index) => ({ id, url: source.urls[index] }));
    const isOnline = async () => sumOf(await rig.metrics(), /^svc_stream_online/) === options.cameras;
    await until('all cameras stream', isOnline, patient);
    const watched = Array.from({ length: options.viewers }, (_, index) => ids[index % ids.length]!);
    const cameraIds = watched.map((id) => `stream/ws/${id}`);
    await rig.clients.ask({
      type: 'connect',
      port: Number(new URL(service.url).port),
      cameraIds,
      isStalled: false,
    });
    return rig;
  }

  async metrics(): Promise<string> {
    return (await this.service.call('GET', '/metrics')).text;
  }

  /** Resolves once it is so: objects are looked for in all cameras, or in none. */
  async setDetect(detect: boolean): Promise<void> {
    await this.#ask('update', (id) => ({ id, detect }));
    const lookedAt = async () => sumOf(await this.metrics(), /^svc_detection_pictures_total/);
    const before = await lookedAt();
    if (detect) await until('pictures are looked at', async () => (await lookedAt()) > before, patient);
    else
      await until(
        'nothing waits',
        async () => sumOf(await this.metrics(), /^svc_detection_waiting/) === 0,
        patient,
      );
  }

  async end(): Promise<void> {
    this.clients.end();
    await this.source.stop();
    await this.service.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #ask(kind: 'create' | 'update', camera: (id: string, index: number) => object): Promise<void> {
    const body = { [kind]: this.#ids.map(camera) };
    const { status, text } = await this.service.call('POST', '/api/cameras/bulk', {
      token: this.#token,
      body,
    });
    if (status >= 300) throw new Error(`${status} ${text}`);
  }
}
