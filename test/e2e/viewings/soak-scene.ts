import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { FakeCamera } from '../../support/fake-camera/fake-camera.js';
import { fixtures } from '../../support/fixtures.js';
import { seededRandom } from '../../support/seeded-random.js';
import { type RunningService, startService } from '../../support/service.js';
import { tempFolder } from '../../support/temp-folder.js';
import { until } from '../../support/until.js';
import { descriptorsOf, sumOf } from './process-figures.js';
import { Visitor } from './visitor.js';
import { DOOR, GATE, ROOF, type Wall, YARD } from './wall.js';

const CAMERAS = [DOOR, GATE, YARD, ROOF];
const censusModule = join(import.meta.dirname, '../../support/thread-census.js');

const startCameras = async (t: TestContext): Promise<FakeCamera> => {
  const camera = await FakeCamera.start({
    mounts: {
      [`/${DOOR}`]: { video: fixtures.h264High(), audio: fixtures.aac() },
      [`/${GATE}`]: { video: fixtures.h264Baseline(), audio: fixtures.pcmu() },
      [`/${YARD}`]: { video: fixtures.h265Main() },
      [`/${ROOF}`]: { video: fixtures.h264BFrames() },
    },
  });
  t.after(() => camera[Symbol.asyncDispose]());
  return camera;
};

/** Two million addresses: more than anybody waits for. */
const addresses = (): (() => string) => {
  let count = 0;
  return () => {
    count += 1;
    return `127.${1 + ((count >> 16) & 31)}.${(count >> 8) & 255}.${count & 255}`;
  };
};

/** The service with its cameras, looked at from outside and by connections that don't stay. */
export class SoakScene {
  readonly service: RunningService;
  readonly wall: Wall;
  readonly censusDir: string;
  readonly #archiveDir: string;

  private constructor(
    service: RunningService,
    wall: Wall,
    folders: { censusDir: string; archiveDir: string },
  ) {
    this.service = service;
    this.wall = wall;
    this.censusDir = folders.censusDir;
    this.#archiveDir = folders.archiveDir;
  }

  /** Resolves when all cameras stream and there are two recordings. */
  static async start(t: TestContext): Promise<SoakScene> {
    const camera = await startCameras(t);
    const [archiveDir, censusDir] = [tempFolder(t), tempFolder(t)];
    const service = await startService({
      DATA_DIR: tempFolder(t),
      ARCHIVE_DIR: archiveDir,
      RECORD_FILE_SECONDS: '5',
      WEBRTC_UDP_PORTS: '51100-51299',
      THREAD_CENSUS_DIR: censusDir,
      NODE_OPTIONS: `--import=${censusModule}`,
    });
    t.after(() => service.process.kill('SIGKILL'));
    const place = { url: service.url, nextAddress: addresses() };
    const token = await SoakScene.#logIn(place, service.adminPassword);
    const wall: Wall = { ...place, token, random: seededRandom(6) };
    const scene = new SoakScene(service, wall, { censusDir, archiveDir });
    for (const id of CAMERAS) {
      const settings = { id, url: camera.url(`/${id}`), record: id === DOOR, token_auth: id === GATE };
      await scene.#post('/api/cameras', settings);
    }
    await until('there is something to see and to play', () => scene.#isReady(), { deadlineMs: 60_000 });
    return scene;
  }

  get pid(): number {
    return this.service.process.pid ?? 0;
  }

  /** Of live HLS, the address of a file that is there as long as the camera's segments are. */
  async hlsHeader(cameraId: string): Promise<string> {
    const playlist = await this.read(`/stream/hls/${cameraId}/ll.m3u8`);
    return `/stream/hls/${cameraId}/${/^#EXT-X-MAP:URI="([^"]+)"/m.exec(playlist)?.[1]}`;
  }

  /** Viewers now, as the list of cameras and as the metrics say. */
  async viewers(): Promise<readonly number[]> {
    const cameras = JSON.parse(await this.read('/api/cameras')) as { viewers: number }[];
    return [...cameras.map(({ viewers }) => viewers), sumOf(await this.metrics(), /^svc_viewers/)];
  }

  metrics(): Promise<string> {
    return this.read('/metrics');
  }

  async read(path: string): Promise<string> {
    using visitor = new Visitor(this.wall);
    return await visitor.read(path, { token: this.wall.token });
  }

  async statusOf(path: string): Promise<number> {
    using visitor = new Visitor(this.wall);
    return (await visitor.ask(path, { token: this.wall.token })).status;
  }

  /** What is open but for the recording that is being written and the one before it, and what threads just count. */
  descriptors() {
    const { files, ...counts } = descriptorsOf(this.pid);
    const passing = [this.#archiveDir, this.censusDir];
    return { ...counts, files: files.filter((path) => !passing.some((folder) => path.startsWith(folder))) };
  }

  /** Recordings that are open. */
  openRecordings(): string[] {
    const folder = join(this.#archiveDir, DOOR, '/');
    return descriptorsOf(this.pid).files.filter((path) => path.startsWith(folder));
  }

  static async #logIn(place: Omit<Wall, 'token' | 'random'>, password: string): Promise<string> {
    using visitor = new Visitor(place);
    const body = JSON.stringify({ username: 'admin', password });
    const options = { method: 'POST', body, contentType: 'application/json' };
    return (JSON.parse(await visitor.read('/api/login', options)) as { token: string }).token;
  }

  async #post(path: string, body: unknown): Promise<void> {
    using visitor = new Visitor(this.wall);
    const { token } = this.wall;
    const options = { method: 'POST', body: JSON.stringify(body), contentType: 'application/json', token };
    const { status, bytes } = await visitor.ask(path, options);
    if (status !== 201) throw new Error(`${status} ${bytes}`);
  }

  async #isReady(): Promise<boolean> {
    const recordings = JSON.parse(await this.read(`/api/cameras/${DOOR}/archive`)) as unknown[];
    return recordings.length > 2 && sumOf(await this.metrics(), /^svc_stream_online/) === CAMERAS.length;
  }
}
