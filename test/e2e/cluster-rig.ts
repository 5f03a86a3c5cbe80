import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Inspection, inspectFiles } from '../../src/archive/list/inspect-files.js';
import { CameraProcess } from '../support/fake-camera/camera-process.js';
import type { NatsServers } from '../support/nats-servers.js';
import { type RunningService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';

export const CLUSTER_KEY = 'a secret that all boxes of the cluster have';

/** Once a second there is a keyframe of each. */
const FRAME_RATE_HZ = 5;
export const FRAME_MS = 1_000 / FRAME_RATE_HZ;

/**
 * Where nothing is said of how soon a box is lost: one that stands still for a moment isn't. No longer than this, for 5 s after
 * its start others take what a box hasn't taken, and by then it must know whether they are there.
 */
export const PATIENT: Readonly<Record<string, string>> = { CLUSTER_LOST_MS: '4000' };

type Shown = { readonly id: string; readonly owner: string; readonly recording: boolean };

/** One of them, as a process. */
export class ClusterBox {
  readonly name: string;
  readonly archiveDir: string;
  readonly #env: Readonly<Record<string, string>>;
  service!: RunningService;
  #token = '';

  constructor(name: string, env: Readonly<Record<string, string>>, archiveDir: string) {
    this.name = name;
    this.archiveDir = archiveDir;
    this.#env = env;
  }

  async start(t: TestContext, password: string): Promise<string> {
    this.service = await startService(this.#env);
    t.after(() => this.service.process.kill('SIGKILL'));
    const known = this.service.adminPassword || password;
    this.#token = await this.service.login('admin', known);
    return known;
  }

  /** As a power cut does. */
  async end(): Promise<void> {
    const child = (this.service as RunningService | undefined)?.process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }

  /** It ended as others that were busy hadn't taken all of its cameras within the 8 s that it waits for them. */
  get endedTooSoon(): boolean {
    return this.service.out().includes('some cameras were taken by no other box in time');
  }

  get pid(): number {
    return this.service.process.pid ?? 0;
  }

  async cameras(): Promise<readonly Shown[]> {
    return (await this.call('GET', '/api/cameras')).body;
  }

  /** What a player asks for. */
  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(new URL(path, this.service.url), {
      headers: { authorization: `Bearer ${this.#token}`, ...headers },
    });
  }

  /** An address for players that send no headers. */
  address(path: string): string {
    const url = new URL(path, this.service.url);
    url.searchParams.set('token', this.#token);
    return url.href;
  }

  call(method: string, path: string, body?: unknown) {
    return this.service.call(method, path, { token: this.#token, ...(body === undefined ? {} : { body }) });
  }

  /** Files of a camera that are being written. */
  openFiles(cameraId: string): string[] {
    return this.files(cameraId).filter((name) => name.includes('_ongoing'));
  }

  /** What a file says of its time, to the frame. */
  inspect(cameraId: string, fileName: string): Inspection {
    const folder = join(this.archiveDir, cameraId);
    const sizeBytes = statSync(join(folder, fileName)).size;
    return inspectFiles({ folder, files: [{ fileName, sizeBytes, fromBytes: 0 }] })[0]!;
  }

  files(cameraId: string): string[] {
    try {
      return readdirSync(join(this.archiveDir, cameraId))
        .filter((name) => name.endsWith('.mp4'))
        .sort();
    } catch {
      return [];
    }
  }
}

export type RigOptions = {
  readonly cameras: number;
  readonly boxes?: number;
  /** All boxes get the same pictures at the same moment, each with its number. */
  readonly isLive?: boolean;
  /** Of all boxes. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where a box finds the servers. */
  readonly urlOf?: (box: number) => string;
};

/** Three boxes that record cameras, and the servers that they have in common. */
export class ClusterRig {
  readonly boxes: readonly ClusterBox[];
  readonly ids: readonly string[];
  password = '';

  private constructor(boxes: readonly ClusterBox[], ids: readonly string[]) {
    this.boxes = boxes;
    this.ids = ids;
  }

  static async start(
    t: TestContext,
    servers: NatsServers,
    { cameras, boxes: count = 3, isLive = false, urlOf = () => servers.url, env: more = {} }: RigOptions,
  ): Promise<ClusterRig> {
    const running: ClusterBox[] = [];
    // Before their folders go.
    t.after(() => Promise.all(running.map((box) => box.end())));
    const source = await CameraProcess.start({
      ...{
        cameras,
        pattern: 'burst',
        kbps: 200,
        stampSendTime: true,
        isLive,
        frameRateHz: FRAME_RATE_HZ,
        framesPerGop: FRAME_RATE_HZ,
      },
    });
    t.after(() => source.stop());
    const boxes = Array.from({ length: count }, (_, index) => {
      const archiveDir = join(tempFolder(t), 'archive');
      const env = {
        ...{ DATA_DIR: tempFolder(t), ARCHIVE_DIR: archiveDir, BOX_NAME: `box-${index}` },
        ...{ CLUSTER_URL: urlOf(index), CLUSTER_KEY, CLUSTER_NAME: 'test' },
        // The others take the host of it alone.
        BOX_ADDRESS: 'http://127.0.0.1:8080',
        ...more,
      };
      return new ClusterBox(`box-${index}`, env, archiveDir);
    });
    const ids = source.urls.map((_, index) => `camera-${index}`);
    running.push(...boxes);
    const rig = new ClusterRig(boxes, ids);
    for (const box of boxes) rig.password = await box.start(t, rig.password);
    const create = source.urls.map((url, index) => ({ id: ids[index]!, url, record: true }));
    const { status } = await boxes[0]!.call('POST', '/api/cameras/bulk', { create });
    if (status !== 200) throw new Error(`cameras could not be made: ${status}`);
    await rig.untilAllRecorded();
    return rig;
  }

  /** As one of the boxes shows it: each camera is recorded by one. */
  async untilAllRecorded(
    asked = this.boxes[0]!,
    options: { readonly deadlineMs?: number } = {},
  ): Promise<void> {
    let seen: readonly Shown[] = [];
    await until(
      'all are recorded',
      async () => {
        seen = await asked.cameras();
        return (
          seen.length === this.ids.length && seen.every(({ owner, recording }) => owner !== '' && recording)
        );
      },
      {
        deadlineMs: 60_000,
        describe: () => JSON.stringify(seen.map((c) => [c.id, c.owner, c.recording])),
        ...options,
      },
    );
  }

  /** Boxes that write a file of the camera. */
  writers(cameraId: string, boxes = this.boxes): ClusterBox[] {
    return boxes.filter((box) => box.openFiles(cameraId).length > 0);
  }

  logs(): string {
    return this.boxes.map(({ name, service }) => `--- ${name}\n${service.out().slice(-6_000)}`).join('\n');
  }
}
