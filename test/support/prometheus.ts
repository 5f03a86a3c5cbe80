import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { until } from './until.js';

export type Vector = {
  readonly result: readonly { metric: Record<string, string>; value: [number, string] }[];
};

export type Alert = {
  readonly state: 'pending' | 'firing';
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};

/** A port that nobody listens on at this moment. */
const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
};

/** A real Prometheus that asks one target each second, and judges its rules as often. */
export class Prometheus {
  readonly #child: ChildProcess;
  readonly #url: string;
  #complaints = '';

  private constructor(child: ChildProcess, url: string) {
    this.#child = child;
    this.#url = url;
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#complaints += text;
    });
  }

  /** `target`: host and port of what has /metrics. It ends with the test. */
  static async start(t: TestContext, target: string, rules: string): Promise<Prometheus> {
    const folder = mkdtempSync(join(tmpdir(), 'framering-prometheus-'));
    const port = await freePort();
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      scrape_configs: [{ job_name: 'service', static_configs: [{ targets: [target] }] }],
      rule_files: [rules],
    };
    // JSON is YAML.
    writeFileSync(join(folder, 'prometheus.yml'), JSON.stringify(config));
    const args = [
      `--config.file=${folder}/prometheus.yml`,
      `--storage.tsdb.path=${folder}/data`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ];
    const child = spawn('prometheus', args, { stdio: ['ignore', 'ignore', 'pipe'] });
    const exited = once(child, 'exit');
    t.after(async () => {
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    });
    const prometheus = new Prometheus(child, `http://127.0.0.1:${port}`);
    // It listens before it has read its data, and answers everything with 503 in plain text until then.
    await prometheus.#until('it is ready', async () => (await prometheus.#get('-/ready'))?.ok);
    return prometheus;
  }

  /** Asks until the answer is good: it comes after the next scrape or evaluation. */
  async until<Answer>(path: string, isGood: (answer: Answer) => boolean): Promise<Answer> {
    let answer: Answer | null = null;
    await this.#until(
      path,
      async () => {
        const response = await this.#get(`api/v1/${path}`);
        answer = response === null ? null : ((await response.json()) as { data: Answer }).data;
        return answer !== null && isGood(answer);
      },
      () => JSON.stringify(answer),
    );
    return answer as Answer;
  }

  async untilFiring(name: string): Promise<Alert> {
    const isIt = ({ state, labels }: Alert): boolean => state === 'firing' && labels['alertname'] === name;
    const { alerts } = await this.until<{ alerts: Alert[] }>('alerts', (seen) => seen.alerts.some(isIt));
    return alerts.find(isIt)!;
  }

  async untilNoAlert(): Promise<void> {
    await this.until<{ alerts: Alert[] }>('alerts', ({ alerts }) => alerts.length === 0);
  }

  #get(path: string): Promise<Response | null> {
    return fetch(`${this.#url}/${path}`).catch(() => null);
  }

  #until(what: string, isSo: () => Promise<boolean | undefined>, describe = () => ''): Promise<boolean> {
    const isSoOrEnded = async (): Promise<boolean | undefined> => {
      assert.equal(this.#child.exitCode, null, this.#complaints);
      return isSo();
    };
    return until(what, isSoOrEnded, { deadlineMs: 90_000, describe });
  }
}
