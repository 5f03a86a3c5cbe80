import { join } from 'node:path';
import { CLUSTER_KEY } from '../e2e/cluster-rig.js';
import { NatsServers } from '../support/nats-servers.js';
import { processFigures } from '../support/process-figures.js';
import { asNpmStart, type RunningService, startService } from '../support/service.js';
import { tempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { atMost, noted, type Row, spread } from '../web-budgets/figures.js';
import { Ends, pause } from './rig.js';

const BOXES = 3;
/** What was made and read is thrown away by then. */
const SETTLED_MS = 20_000;
const CPU_MS = 10_000;
const LISTS = 10;

class ManyBox {
  readonly #env: Readonly<Record<string, string>>;
  #service!: RunningService;
  #token = '';

  constructor(env: Readonly<Record<string, string>>) {
    this.#env = env;
  }

  async start(password: string): Promise<string> {
    this.#service = await startService(this.#env);
    const known = this.#service.adminPassword || password;
    this.#token = await this.#service.login('admin', known);
    return known;
  }

  get figures(): { readonly cpuMs: number; readonly rssBytes: number } {
    return processFigures(this.#service.process.pid ?? 0, {})['service']!;
  }

  call(method: string, path: string, body?: unknown) {
    return this.#service.call(method, path, { token: this.#token, ...(body === undefined ? {} : { body }) });
  }

  async kill(): Promise<void> {
    this.#service.process.kill('SIGKILL');
    await this.#service.exited;
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const begunMs = performance.now();
  await work();
  return performance.now() - begunMs;
};

const restarted = async (boxes: readonly ManyBox[], password: string): Promise<void> => {
  await Promise.all(boxes.map((box) => box.kill()));
  await Promise.all(boxes.map((box) => box.start(password)));
  await pause(SETTLED_MS);
};

const most = (values: readonly number[]): number => Math.max(...values);

const cpuOf = async (boxes: readonly ManyBox[]): Promise<number> => {
  const before = boxes.map(({ figures }) => figures.cpuMs);
  await pause(CPU_MS);
  return most(boxes.map(({ figures }, at) => (figures.cpuMs - before[at]!) / (CPU_MS / 1_000)));
};

/** Three boxes that have so many cameras as settings and figures, nobody of whom connects any. */
export const measureMany = async (count: number): Promise<Row[]> => {
  const ends = new Ends();
  try {
    const servers = await NatsServers.start(ends);
    const boxes = Array.from({ length: BOXES }, (_, index) => {
      const folder = tempFolder(ends);
      return new ManyBox({
        ...{ DATA_DIR: folder, ARCHIVE_DIR: join(folder, 'archive'), BOX_NAME: `box-${index}` },
        ...{ CLUSTER_URL: servers.url, CLUSTER_KEY, CLUSTER_NAME: 'many' },
        BOX_ADDRESS: 'http://127.0.0.1:8080',
        ...asNpmStart,
      });
    });
    let password = '';
    for (const box of boxes) password = await box.start(password);
    ends.after(() => Promise.all(boxes.map((box) => box.kill())));
    const [first, ...others] = boxes as [ManyBox, ...ManyBox[]];
    await restarted(boxes, password);
    const emptyBytes = boxes.map(({ figures }) => figures.rssBytes);
    const emptyCpuMs = await cpuOf(boxes);
    const sample = { id: 'camera-0', url: 'rtsp://127.0.0.1:9/cam', record: true, disabled: true };
    await first.call('POST', '/api/cameras', sample);
    const { body: snapshot } = await first.call('GET', '/api/system/backup/export');
    const [camera] = snapshot.cameras;
    const cameras = Array.from({ length: count }, (_, index) => ({
      ...{ ...camera, id: `camera-${index}`, url: `rtsp://127.0.0.1:9/cam${index}` },
    }));
    const restore = () => first.call('POST', '/api/system/backup/import', { ...snapshot, cameras });
    const { status } = await restore();
    if (status !== 200) throw new Error(`the cameras could not be made: ${status}`);
    const last = `/api/cameras/camera-${count - 1}`;
    const knownMs = await timed(() =>
      Promise.all(
        others.map((box) =>
          until('it has them', async () => (await box.call('GET', last)).status === 200 || pause(10)),
        ),
      ),
    );
    await until('all have a box', async () => {
      const { body } = await first.call('GET', '/api/cluster');
      return (body.cameras_unowned === 0 && body.cameras_doubled === 0) || pause(200);
    });
    await restarted(boxes, password);
    const grownBytes = boxes.map(({ figures }, at) => figures.rssBytes - emptyBytes[at]!);
    const cpuMs = await cpuOf(boxes);
    const lists: number[] = [];
    for (const box of boxes)
      for (let turn = 0; turn < LISTS; turn++) lists.push(await timed(() => box.call('GET', '/api/cameras')));
    const changedMs = await timed(async () => {
      await first.call('PUT', last, { retention_days: 7 });
      await Promise.all(
        others.map((box) =>
          until(
            'it is known',
            async () => (await box.call('GET', last)).body.retention_days === 7 || pause(10),
          ),
        ),
      );
    });
    return [
      atMost(`${count} cameras, made at one box: known at all others after`, 's', knownMs / 1_000, 1),
      atMost('one of them is changed: known at all others after', 's', changedMs / 1_000, 1),
      spread('GET /api/cameras', 'ms', lists, { p95: 300 }),
      atMost('memory of a box for them', 'MB', most(grownBytes) / 1e6, 100),
      noted('CPU of a box without and with them', `${Math.round(emptyCpuMs)} and ${Math.round(cpuMs)} ms/s`),
    ];
  } finally {
    await ends.all();
  }
};
