import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLUSTER_KEY } from '../e2e/cluster-rig.js';
import { callApi } from '../support/api-client.js';
import { CameraProcess } from '../support/fake-camera/camera-process.js';
import { NatsServers } from '../support/nats-servers.js';
import { type RunningService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import type { Network } from './network.js';
import { type RecordedFrame, recordedFrames } from './recorded-frames.js';

/** What is to be done at the end, the last first. */
export class Ends {
  readonly #all: (() => unknown)[] = [];

  after(work: () => unknown): void {
    this.#all.push(work);
  }

  async all(): Promise<void> {
    for (let work = this.#all.pop(); work !== undefined; work = this.#all.pop()) await work();
  }
}

export const FRAME_RATE_HZ = 10;
export const FRAME_MS = 1_000 / FRAME_RATE_HZ;
export const GOP_MS = 1_000;
const KBPS = 100;
const PORT = '8080';

export type ShownCamera = { readonly id: string; readonly owner: string; readonly recording: boolean };

export type BoxOptions = {
  readonly url: string;
  readonly before: readonly string[];
  readonly archiveDir: string;
  readonly env: Readonly<Record<string, string>>;
};

/** One box as a process beside its server. */
export class Box {
  readonly name: string;
  readonly archiveDir: string;
  /** Ahead of the machine's clock by this, where it can be stepped. */
  readonly #stepPath: string;
  readonly #options: BoxOptions;
  #service: RunningService | null = null;
  #password = '';
  #token = '';

  constructor(name: string, stepPath: string, options: BoxOptions) {
    this.name = name;
    this.archiveDir = options.archiveDir;
    this.#stepPath = stepPath;
    this.#options = options;
  }

  get service(): RunningService {
    if (this.#service === null) throw new Error(`${this.name} doesn't run`);
    return this.#service;
  }

  get url(): string {
    return this.#options.url;
  }

  get pid(): number {
    return this.service.process.pid ?? 0;
  }

  get isRunning(): boolean {
    const child = this.#service?.process;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async start(password = this.#password): Promise<string> {
    const { env, before } = this.#options;
    this.#service = await startService(env, undefined, before);
    this.#password = this.#service.adminPassword || password;
    this.#token = '';
    return this.#password;
  }

  async kill(): Promise<void> {
    this.service.process.kill('SIGKILL');
    await this.service.exited;
  }

  stepClock(aheadMs: number): void {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(BigInt(aheadMs));
    writeFileSync(this.#stepPath, bytes, { flag: 'r+' });
  }

  async call(method: string, path: string, body?: unknown) {
    if (this.#token === '') await this.#login();
    const ask = () =>
      callApi(this.url, method, path, { token: this.#token, ...(body === undefined ? {} : { body }) });
    const answer = await ask();
    if (answer.status !== 401) return answer;
    // Its clock was stepped: the token is over.
    await this.#login();
    return ask();
  }

  /** All lines of one of its metrics together. */
  async metric(name: string): Promise<number> {
    const { port } = new URL(this.service.metricsUrl);
    const text = await (await fetch(`http://${new URL(this.url).hostname}:${port}/metrics`)).text();
    const lines = text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
    return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
  }

  async #login(): Promise<void> {
    const body = { username: 'admin', password: this.#password };
    this.#token = (await callApi(this.url, 'POST', '/api/login', { body })).body.token;
  }

  async cameras(): Promise<readonly ShownCamera[]> {
    return (await this.call('GET', '/api/cameras')).body;
  }

  files(cameraId: string): string[] {
    try {
      return readdirSync(join(this.archiveDir, cameraId)).filter((name) => name.endsWith('.mp4'));
    } catch {
      return [];
    }
  }

  isWriting(cameraId: string): boolean {
    return this.isRunning && this.files(cameraId).some((name) => name.includes('_ongoing'));
  }

  frames(cameraId: string): RecordedFrame[] {
    return recordedFrames(join(this.archiveDir, cameraId));
  }

  /** Files that are there, and that it doesn't list. */
  async unlisted(cameraIds: readonly string[]): Promise<string[]> {
    const missing: string[] = [];
    for (const id of cameraIds) {
      const files = this.files(id).filter((name) => !name.includes('_ongoing'));
      if (files.length === 0) continue;
      const { body } = await this.call('GET', `/api/cameras/${id}/archive`);
      const listed = new Set((body as { filename: string }[]).map(({ filename }) => filename));
      missing.push(...files.filter((name) => !listed.has(name)).map((name) => `${id}/${name}`));
    }
    return missing;
  }
}

export type RigOptions = {
  readonly cameras: number;
  readonly env?: Readonly<Record<string, string>>;
  /** What makes a box's wall clock one that can be stepped; null: it can't. */
  readonly clockShim: string | null;
};

/** Three boxes that record cameras, each beside a server, as processes in networks of their own. */
export class Rig {
  readonly network: Network;
  readonly servers: NatsServers;
  readonly source: CameraProcess;
  readonly boxes: readonly Box[];
  readonly ids: readonly string[];

  private constructor(
    { network, servers, source }: Pick<Rig, 'network' | 'servers' | 'source'>,
    boxes: readonly Box[],
    ids: readonly string[],
  ) {
    this.network = network;
    this.servers = servers;
    this.source = source;
    this.boxes = boxes;
    this.ids = ids;
  }

  static async start(network: Network, ends: Ends, options: RigOptions): Promise<Rig> {
    const places = [0, 1, 2].map((box) => ({
      ...{ address: network.addressOf(box, 'cluster'), before: network.besideBox(box) },
    }));
    const servers = await NatsServers.start(ends, { count: places.length, places });
    const source = await CameraProcess.start(
      {
        ...{ cameras: options.cameras, pattern: 'burst', kbps: KBPS, stampSendTime: true },
        ...{ frameRateHz: FRAME_RATE_HZ, framesPerGop: (FRAME_RATE_HZ * GOP_MS) / 1_000 },
        host: network.camerasAddress,
      },
      network.besideCameras,
    );
    ends.after(() => source.stop());
    const boxes = places.map(({ address, before }, index) => {
      const name = `box-${index}`;
      const folder = tempFolder(ends);
      const archiveDir = join(folder, 'archive');
      mkdirSync(archiveDir);
      const stepPath = join(folder, 'clock-step');
      writeFileSync(stepPath, Buffer.alloc(8));
      const env = {
        ...{ DATA_DIR: join(folder, 'data'), ARCHIVE_DIR: archiveDir, BOX_NAME: name },
        ...{ CLUSTER_URL: servers.url, CLUSTER_KEY, CLUSTER_NAME: 'faults', HOST: '0.0.0.0', PORT },
        BOX_ADDRESS: `http://${address}:${PORT}`,
        ...(options.clockShim === null ? {} : { LD_PRELOAD: options.clockShim, CLOCK_STEP: stepPath }),
        ...options.env,
      };
      const url = `http://${network.addressOf(index, 'desk')}:${PORT}`;
      return new Box(name, stepPath, { url, before, archiveDir, env });
    });
    ends.after(() => Promise.all(boxes.filter(({ isRunning }) => isRunning).map((box) => box.kill())));
    const ids = source.urls.map((_, index) => `camera-${index}`);
    const rig = new Rig({ network, servers, source }, boxes, ids);
    const password = await boxes[0]!.start();
    await Promise.all(boxes.slice(1).map((box) => box.start(password)));
    // A box that is alone would take all of them, and the others their share one by one.
    await until('all boxes are here', async () => {
      const { body } = await boxes[0]!.call('GET', '/api/cluster');
      const here = body.boxes.filter(({ state }: { readonly state: string }) => state === 'here');
      return here.length === boxes.length || pause(100);
    });
    const create = source.urls.map((url, index) => ({ id: ids[index]!, url, record: true }));
    const { status } = await boxes[0]!.call('POST', '/api/cameras/bulk', { create });
    if (status !== 200) throw new Error(`cameras could not be made: ${status}`);
    await rig.untilWell();
    return rig;
  }

  get running(): readonly Box[] {
    return this.boxes.filter(({ isRunning }) => isRunning);
  }

  /** Which of those that run write a file of it. */
  writers(cameraId: string): Box[] {
    return this.running.filter((box) => box.isWriting(cameraId));
  }

  /** Those that this box records. */
  of(box: Box): string[] {
    return this.ids.filter((id) => box.isWriting(id));
  }

  /** Each camera is recorded by one box, and all boxes say the same of that. */
  async untilWell(deadlineMs = 60_000): Promise<void> {
    let seen = '';
    await until(
      'each camera is recorded by one box',
      async () => {
        const wrong = this.ids.filter((id) => this.writers(id).length !== 1);
        seen = `${wrong.length} have another number of writers, ${wrong[0]}: ${wrong[0] === undefined ? '' : this.writers(wrong[0]).map(({ name }) => name)}`;
        if (wrong.length > 0) return pause(100);
        for (const box of this.running) {
          const shown = await box.cameras();
          const other = shown.find(
            ({ id, owner, recording }) => !recording || owner !== this.writers(id)[0]?.name,
          );
          seen = `${box.name} shows ${JSON.stringify(other && [other.id, other.owner, other.recording])}`;
          if (other !== undefined || shown.length < this.ids.length) return pause(100);
        }
        return true;
      },
      { deadlineMs, describe: () => seen },
    );
  }
}

/** Answers false, for a wait that goes on. */
export const pause = (ms: number): Promise<false> =>
  new Promise((resolve) => setTimeout(() => resolve(false), ms));
