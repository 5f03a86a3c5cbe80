import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { tempFolder } from '../support/temp-folder.js';
import { judge, repo, run, whyNo, whyNotThere } from './judges.js';

const install = join(repo, 'src/install');
const read = (name: string): string => readFileSync(join(install, name), 'utf8');

type Service = {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly volumes?: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: object;
  readonly environment?: Readonly<Record<string, string>>;
};
type Compose = {
  readonly services: Readonly<Record<'framering' | 'prometheus' | 'grafana', Service>>;
  readonly volumes: object;
};
const { services, volumes } = parse(read('compose.yaml')) as Compose;

/** [what is mounted, where] */
const mountsOf = ({ volumes: list = [] }: Service): [string, string][] =>
  list.map((text) => text.split(':').slice(0, 2) as [string, string]);
const isPath = (source: string): boolean => /^[./]/.test(source);

const VALIDATE = `
import sys, compose_spec
compose_spec.PyCompose.from_yaml(sys.stdin.read()).validate()
`;
const judged = (text: string) => run(judge('python3'), ['-c', VALIDATE], { input: text });

test('it is what the Compose specification says, and another file is not', {
  skip: whyNo('hadolint'),
}, () => {
  const { status, said } = judged(read('compose.yaml'));
  assert.equal(status, 0, said);
  assert.match(judged(read('compose.yaml').replace('restart:', 'restarts:')).said, /restarts/);
});

test('docker reads it', { skip: whyNotThere('docker-compose') }, () => {
  const { status, said } = run('docker-compose', ['-f', 'src/install/compose.yaml', 'config', '--quiet']);
  assert.equal(status, 0, said);
});

test('all that it mounts, builds and promises is there', () => {
  for (const [name, service] of Object.entries(services)) {
    for (const [source] of mountsOf(service)) {
      const isThere = isPath(source) ? existsSync(join(install, source)) : source in volumes;
      assert.ok(isThere, `${name} mounts ${source}`);
    }
    if (service.build === undefined)
      assert.match(service.image ?? '', /:v?\d+\.\d+\.\d+$/, 'a version is pinned');
  }
  const dockerfile = readFileSync(join(install, services.framering.build!.context, 'Dockerfile'), 'utf8');
  assert.ok(dockerfile.includes(`AS ${services.framering.build!.target}\n`));
  assert.match(dockerfile, /^HEALTHCHECK /m);
  assert.ok(services.prometheus.healthcheck && services.grafana.healthcheck);
  assert.match(dockerfile, /^VOLUME \/data$/m);
  assert.ok(mountsOf(services.framering).some(([, target]) => target === '/data'));
  const udp = services.framering.environment?.['WEBRTC_UDP_PORTS'];
  assert.ok(services.framering.ports?.includes(`${udp}:${udp}/udp`), 'the same port inside and outside');
  for (const name of ['prometheus', 'grafana'] as const)
    for (const port of services[name].ports ?? [])
      assert.match(port, /^127\.0\.0\.1:/, `${name} is for this machine`);
});

test('promtool reads what Prometheus is told, with the alerts beside it', (t) => {
  const folder = tempFolder(t);
  const mounts = mountsOf(services.prometheus).filter(([source]) => isPath(source));
  assert.deepEqual([...new Set(mounts.map(([, target]) => dirname(target)))], ['/etc/prometheus']);
  for (const [source, target] of mounts) copyFileSync(join(install, source), join(folder, basename(target)));
  const { status, said } = run('promtool', ['check', 'config', join(folder, 'prometheus.yml')]);
  assert.equal(status, 0, said);
  assert.match(said, /1 rule files found[\s\S]*[1-9]\d* rules found/);
  const { scrape_configs } = parse(read('prometheus.yml')) as {
    scrape_configs: { static_configs: { targets: string[] }[] }[];
  };
  assert.deepEqual(scrape_configs[0]?.static_configs[0]?.targets, ['framering:9090']);
});

test('Grafana is given its Prometheus and its page where it looks for them', () => {
  const mounts = new Map(mountsOf(services.grafana).map(([source, target]) => [source, target]));
  assert.equal(dirname(mounts.get('./grafana-datasource.yaml')!), '/etc/grafana/provisioning/datasources');
  assert.equal(dirname(mounts.get('./grafana-dashboards.yaml')!), '/etc/grafana/provisioning/dashboards');
  const { datasources } = parse(read('grafana-datasource.yaml')) as {
    datasources: { type: string; url: string; isDefault: boolean; jsonData: { timeInterval: string } }[];
  };
  const [{ type, url, isDefault, jsonData }] = datasources as [(typeof datasources)[0]];
  assert.deepEqual([type, isDefault], ['prometheus', true]);
  assert.ok(new URL(url).hostname in services);
  const { global } = parse(read('prometheus.yml')) as { global: { scrape_interval: string } };
  assert.equal(jsonData.timeInterval, global.scrape_interval);
  const { providers } = parse(read('grafana-dashboards.yaml')) as {
    providers: { options: { path: string } }[];
  };
  assert.equal(dirname(mounts.get('../ops/dashboard.json')!), providers[0]?.options.path);
});
