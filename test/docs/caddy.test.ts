import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { guideBlock, judgeProxy, PROXIED_HOST, proxySetting } from './behind-proxy.js';

/** The machine's own, or the one that `support/install-tools.sh` unpacked. */
const command = ['caddy', join(tmpdir(), 'framering-caddy/usr/bin/caddy')].find(
  (each) => spawnSync(each, ['version']).status === 0,
);
const skip = command === undefined ? 'there is no caddy' : false;

test('behind Caddy, as the guide has it, all goes through, and whose it is stays known', {
  skip,
}, async (t) => {
  const setting = await proxySetting(t);
  const { folder, port, cert, key, service } = setting;
  const block = guideBlock('caddy', {
    // Elsewhere Caddy fetches a certificate by itself, for port 443.
    [`${PROXIED_HOST} {`]: `https://${PROXIED_HOST}:${port} {\n  bind 127.0.0.1\n  tls ${cert} ${key}`,
    '127.0.0.1:8080': new URL(service.url).host,
  });
  const file = join(folder, 'Caddyfile');
  writeFileSync(file, `{\n  admin off\n  auto_https disable_redirects\n}\n${block}`);
  const caddy = spawn(command!, ['run', '--config', file, '--adapter', 'caddyfile'], {
    env: { PATH: process.env['PATH'] ?? '', HOME: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await judgeProxy(t, setting, caddy);
});
