import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { freePort } from './mosquitto.js';
import { tempFolder } from './temp-folder.js';
import { until } from './until.js';

const PROGRAM = join(tmpdir(), 'framering-nats-server/bin/nats-server');

/** Why tests with real servers can't be; false: they can. For a test's `skip`. */
export const withoutNats: string | false = existsSync(PROGRAM)
  ? false
  : 'nats-server could not be had (test/support/install-servers.sh)';

type Server = {
  readonly address: string;
  readonly before: readonly string[];
  readonly port: number;
  readonly monitorPort: number;
  readonly folder: string;
  readonly configPath: string;
};

export type NatsOptions = {
  readonly count?: number;
  /** More of the configuration of each. */
  readonly config?: string;
  /** Where each is, in the place of this machine's own address, and what is put before its command. */
  readonly places?: readonly { readonly address: string; readonly before: readonly string[] }[];
};

/** Real servers in one cluster, each of which can be killed, frozen and started anew. */
export class NatsServers {
  readonly #servers: Server[] = [];
  readonly #running = new Map<number, ChildProcess>();

  static async start(
    t: Pick<TestContext, 'after'>,
    { count = 3, config = '', places = [] }: NatsOptions = {},
  ): Promise<NatsServers> {
    const servers = new NatsServers();
    const placeOf = (index: number) => places[index] ?? { address: '127.0.0.1', before: [] };
    t.after(() => servers.kill());
    const distinct = new Set<number>();
    while (distinct.size < 3 * count) distinct.add(await freePort());
    const ports = [...distinct];
    const routes = ports.slice(2 * count).map((port, index) => `nats://${placeOf(index).address}:${port}`);
    for (let index = 0; index < count; index++) {
      const { address, before } = placeOf(index);
      const folder = tempFolder(t);
      const configPath = join(folder, 'server.conf');
      writeFileSync(
        configPath,
        `server_name: s${index}
         listen: "${address}:${ports[index]}"
         http: "${address}:${ports[count + index]}"
         jetstream { store_dir: ${JSON.stringify(folder)}, limits { batch { max_msgs: 20000 } } }
         ${count === 1 ? '' : `cluster { name: c, no_advertise: true, listen: "${address}:${ports[2 * count + index]}", routes: ${JSON.stringify(routes)} }`}
         ${config}`,
      );
      servers.#servers.push({
        ...{ address, before, folder, configPath },
        ...{ port: ports[index]!, monitorPort: ports[count + index]! },
      });
    }
    await Promise.all(servers.#servers.map((_, index) => servers.startOne(index)));
    return servers;
  }

  /** As the service is told of them. */
  get url(): string {
    return `nats://${this.#servers.map(({ address, port }) => `${address}:${port}`).join(',')}`;
  }

  /** Where each listens, on this machine. */
  get ports(): number[] {
    return this.#servers.map(({ port }) => port);
  }

  get count(): number {
    return this.#servers.length;
  }

  /** Where they keep what they are given. */
  get folders(): string[] {
    return this.#servers.map(({ folder }) => folder);
  }

  async startOne(index: number): Promise<void> {
    const { address, before, configPath, monitorPort } = this.#servers[index]!;
    const [program = '', ...args] = [...before, PROGRAM, '-c', configPath];
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
    // A test that fails halfway leaves nobody behind.
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4_000);
    });
    this.#running.set(index, child);
    await until(
      'the server listens',
      () =>
        fetch(`http://${address}:${monitorPort}/healthz?js-server-only=true`).then(
          ({ ok }) => ok || this.count > 1,
          () => false,
        ),
      { describe: () => said },
    );
  }

  isRunning(index: number): boolean {
    return this.#running.has(index);
  }

  /** As a power cut does; of all where none is named. */
  async kill(index?: number): Promise<void> {
    for (const [at, child] of [...this.#running]) {
      if (index !== undefined && at !== index) continue;
      this.#running.delete(at);
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
  }

  freeze(index: number): void {
    this.#running.get(index)?.kill('SIGSTOP');
  }

  thaw(index: number): void {
    this.#running.get(index)?.kill('SIGCONT');
  }

  /** Which of them leads what is kept under this name; null: none does now. */
  async leaderOf(stream: string): Promise<number | null> {
    for (const [index] of this.#running) {
      const { address, monitorPort } = this.#servers[index]!;
      const leader = await fetch(`http://${address}:${monitorPort}/jsz?streams=true&accounts=true`)
        .then(async (answer) => (await answer.json()) as JetStreamReport)
        .then((report) => streamsIn(report).find(({ name }) => name === stream)?.cluster?.leader)
        .catch(() => undefined);
      const found = leader === undefined ? -1 : this.#servers.findIndex((_, at) => `s${at}` === leader);
      if (found >= 0 && this.#running.has(found)) return found;
    }
    return null;
  }
}

type StreamReport = { readonly name: string; readonly cluster?: { readonly leader?: string } };
type JetStreamReport = { readonly account_details?: { readonly stream_detail?: StreamReport[] }[] };

const streamsIn = ({ account_details: accounts = [] }: JetStreamReport): StreamReport[] =>
  accounts.flatMap(({ stream_detail: streams = [] }) => streams);
