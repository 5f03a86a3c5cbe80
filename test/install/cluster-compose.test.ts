import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { clusterAddressOf } from '../../src/base/cluster-address.js';
import { withoutNats } from '../support/nats-servers.js';
import { judge, repo, run, whyNo, whyNotThere } from './judges.js';

const install = join(repo, 'src/install');
const text = readFileSync(join(install, 'cluster-compose.yaml'), 'utf8');

type Service = {
  readonly image: string;
  readonly build?: { readonly context: string; readonly target: string };
  readonly volumes: readonly string[];
  readonly ports?: readonly string[];
  readonly healthcheck?: object;
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
};
const { services, volumes } = parse(text) as {
  services: Readonly<Record<string, Service>>;
  volumes: object;
};
const boxes = ['north', 'south', 'west'];
const servers = ['nats-1', 'nats-2', 'nats-3'];

const VALIDATE = `
import sys, compose_spec
compose_spec.PyCompose.from_yaml(sys.stdin.read()).validate()
`;

test('it is what the Compose specification says', { skip: whyNo('hadolint') }, () => {
  const { status, said } = run(judge('python3'), ['-c', VALIDATE], { input: text });
  assert.equal(status, 0, said);
});

test('docker reads it, and says which secrets are missing', { skip: whyNotThere('docker-compose') }, () => {
  const args = ['-f', 'src/install/cluster-compose.yaml', 'config', '--quiet'];
  const env = { PATH: process.env['PATH'] ?? '', CLUSTER_KEY: 'k', S3_SECRET_KEY: 's' };
  const { status, said } = run('docker-compose', args, { env });
  assert.equal(status, 0, said);
  assert.match(run('docker-compose', args, { env: { PATH: env.PATH } }).said, /(?:KEY)[\s\S]*is missing/);
});

test('its boxes are three, alike but for their names, and know servers and store', () => {
  assert.deepEqual(Object.keys(services).sort(), [...boxes, ...servers, 'store'].sort());
  for (const name of boxes) {
    const { environment = {}, volumes: mounted, ports = [], ...box } = services[name]!;
    const { BOX_NAME, BOX_ADDRESS, CLUSTER_URL = '', CLUSTER_KEY, ARCHIVE_S3 = '' } = environment;
    assert.deepEqual([BOX_NAME, BOX_ADDRESS], [name, `http://${name}:8080`]);
    assert.deepEqual(
      clusterAddressOf(CLUSTER_URL)?.servers,
      servers.map((server) => `${server}:4222`),
    );
    // Neither has a value here.
    assert.match(CLUSTER_KEY ?? '', /^\$\{CLUSTER_KEY:\?[^}]+\}$/);
    assert.match(ARCHIVE_S3, /^http:\/\/framering:\$\{S3_SECRET_KEY:\?[^}]+\}@store:7070\/recordings$/);
    assert.deepEqual(mounted, [`${name}:/data`]);
    assert.equal(box.stop_grace_period, '20s');
    assert.deepEqual(
      Object.entries(box.depends_on ?? {}).map(([other, { condition }]) => `${other} ${condition}`),
      [...servers, 'store'].map((other) => `${other} service_healthy`),
    );
    assert.ok(
      ports.every((port) => port.endsWith(':8080')),
      'the relay is for boxes alone',
    );
    const { environment: _env, volumes: _volumes, ports: _ports, ...first } = services['north']!;
    assert.deepEqual(box, first);
  }
  const published = Object.values(services).flatMap(({ ports = [] }) => ports);
  assert.deepEqual([new Set(published).size, published.length], [3, 3]);
});

test('all that it mounts and promises is there', () => {
  for (const [name, { image, build, volumes: mounted, healthcheck }] of Object.entries(services)) {
    for (const mount of mounted) {
      const source = mount.split(':')[0]!;
      const isThere = /^[./]/.test(source) ? existsSync(join(install, source)) : source in volumes;
      assert.ok(isThere, `${name} mounts ${source}`);
    }
    if (build === undefined) {
      assert.match(image, /:v?\d+\.\d+\.\d+(?:-alpine)?$/, 'a version is pinned');
      assert.ok(healthcheck, name);
    }
  }
  const environment = services['store']!.environment ?? {};
  assert.match(environment['ROOT_SECRET_KEY'] ?? '', /^\$\{S3_SECRET_KEY:\?/);
});

test('a real server takes what its servers are told', { skip: withoutNats }, () => {
  const program = join(tmpdir(), 'framering-nats-server/bin/nats-server');
  const args = ['-t', '--config', 'src/install/cluster-nats.conf'];
  const { status, said } = run(program, args);
  assert.equal(status, 0, said);
  const conf = readFileSync(join(install, 'cluster-nats.conf'), 'utf8');
  for (const server of servers) {
    assert.ok(conf.includes(`nats://${server}:6222`));
    const told = JSON.stringify(services[server]);
    assert.ok(
      told.includes('./cluster-nats.conf:/etc/nats/cluster-nats.conf:ro') && told.includes(`"${server}"`),
    );
  }
});
