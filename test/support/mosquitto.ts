import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { tempFolder } from './temp-folder.js';
import { until } from './until.js';

/** What somebody heard. */
export type Heard = {
  readonly topic: string;
  readonly payload: string;
  readonly qos: number;
  readonly retain: boolean;
};

export const BROKER_USER = 'framering';
export const BROKER_PASSWORD = 'p@ss/word: of a broker';

// Debian has the broker where only root looks.
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` };

/** A test that fails halfway leaves nobody behind. */
const endWithTest = <Child extends ChildProcess>(child: Child): Child => {
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  child.once('exit', () => process.off('exit', end));
  return child;
};

/** Below those of connections that go out: one of these would have taken it before a server listens there. */
const FIRST_PORT = 10_000;
const PORTS = 20_000;

export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    const probe = createServer().listen(port, '127.0.0.1');
    try {
      await once(probe, 'listening');
    } catch {
      continue;
    }
    await new Promise((resolve) => probe.close(resolve));
    return port;
  }
};

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

/** `cert.pem` and `key.pem` of this machine, which sign for themselves. */
export const makeCertificate = (folder: string): void => {
  const files = ['-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const kind = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  execFileSync('openssl', [...kind, '-days', '2', ...subject, ...files], { stdio: 'ignore' });
};

/** A real broker on a port of its own, that knows one user; what it keeps outlives its restarts. It ends with the test. */
export class Mosquitto {
  readonly port: number;
  readonly #t: TestContext;
  readonly #folder: string;
  readonly #isTls: boolean;
  #child: ChildProcess | null = null;

  private constructor(t: TestContext, port: number, isTls: boolean) {
    this.#t = t;
    this.port = port;
    this.#isTls = isTls;
    this.#folder = tempFolder(t);
  }

  static async start(t: TestContext, { isTls = false } = {}): Promise<Mosquitto> {
    const broker = new Mosquitto(t, await freePort(), isTls);
    broker.#configure();
    t.after(() => broker.stop());
    await broker.start();
    return broker;
  }

  /** As the service is told of it. */
  get url(): string {
    const who = `${BROKER_USER}:${encodeURIComponent(BROKER_PASSWORD)}`;
    return `${this.#isTls ? 'mqtts' : 'mqtt'}://${who}@127.0.0.1:${this.port}`;
  }

  /** Whom to trust for it. */
  get certificatePath(): string {
    return join(this.#folder, 'cert.pem');
  }

  async start(): Promise<void> {
    const args = ['-c', join(this.#folder, 'mosquitto.conf')];
    const child = endWithTest(spawn('mosquitto', args, { env, stdio: ['ignore', 'ignore', 'pipe'] }));
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    this.#child = child;
    await until('the broker listens', () => answers(this.port), { describe: () => complaints });
  }

  /** It writes what it keeps, and ends. */
  async stop(): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (child === null || child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  /** Somebody of another make listens from now on, also after the broker was away; ends with the test. */
  async listen(topics: readonly string[] = ['#']): Promise<Heard[]> {
    const { heard, child } = await this.#subscribe(topics, ['-c', '-q', '1']);
    this.#t.after(() => void child.kill('SIGKILL'));
    return heard;
  }

  /** What somebody who comes now finds, by topic. */
  async retained(topic = '#'): Promise<Map<string, string>> {
    const { heard, child } = await this.#subscribe([topic], ['-q', '1']);
    child.kill('SIGKILL');
    return new Map(heard.filter(({ retain }) => retain).map(({ topic: at, payload }) => [at, payload]));
  }

  publish(topic: string, payload: string, options: readonly string[] = []): void {
    execFileSync('mosquitto_pub', [...this.#clientArgs(), '-t', topic, '-m', payload, ...options], { env });
  }

  /** Once it is heard what is published now, all that was kept has been heard. */
  async #subscribe(
    topics: readonly string[],
    options: readonly string[],
  ): Promise<{ readonly heard: Heard[]; readonly child: ChildProcess }> {
    const heard: Heard[] = [];
    const id = `listener-${randomUUID()}`;
    const ready = `ready/${id}`;
    const args = [...this.#clientArgs(), '-i', id, ...options, '-F', '%j'];
    for (const topic of [...topics, ready]) args.push('-t', topic);
    const child = endWithTest(spawn('mosquitto_sub', args, { env, stdio: ['ignore', 'pipe', 'ignore'] }));
    let rest = '';
    let isReady = false;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter((one) => one !== '')) {
        const { topic, payload = '', qos, retain } = JSON.parse(line);
        if (topic === ready) isReady = true;
        else if (!topic.startsWith('ready/'))
          heard.push({ topic, payload: String(payload), qos, retain: retain === 1 });
      }
    });
    await until('somebody listens', () => {
      this.publish(ready, 'x');
      return isReady;
    });
    return { heard, child };
  }

  #clientArgs(): string[] {
    const who = ['-u', BROKER_USER, '-P', BROKER_PASSWORD];
    const tls = this.#isTls ? ['--cafile', this.certificatePath] : [];
    return ['-h', '127.0.0.1', '-p', String(this.port), ...who, ...tls];
  }

  #configure(): void {
    const folder = this.#folder;
    if (this.#isTls) makeCertificate(folder);
    const passwords = join(folder, 'passwords');
    execFileSync('mosquitto_passwd', ['-b', '-c', passwords, BROKER_USER, BROKER_PASSWORD], { env });
    const tls = [`certfile ${folder}/cert.pem`, `keyfile ${folder}/key.pem`];
    const lines = [
      'per_listener_settings false',
      // Started by root it would be somebody else, who may not read this folder.
      ...(process.getuid?.() === 0 ? ['user root'] : []),
      'allow_anonymous false',
      `password_file ${passwords}`,
      'persistence true',
      `persistence_location ${folder}/`,
      'max_queued_messages 0',
      `listener ${this.port} 127.0.0.1`,
      ...(this.#isTls ? tls : []),
    ];
    writeFileSync(join(folder, 'mosquitto.conf'), `${lines.join('\n')}\n`);
  }
}
