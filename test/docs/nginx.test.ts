import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { guideBlock, judgeProxy, proxySetting } from './behind-proxy.js';

test('behind nginx, as the guide has it, all goes through, and whose it is stays known', async (t) => {
  const setting = await proxySetting(t);
  const { folder, port, cert, key, service } = setting;
  const block = guideBlock('nginx', {
    'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
    '/etc/ssl/cameras.crt': cert,
    '/etc/ssl/cameras.key': key,
    'http://127.0.0.1:8080': service.url,
  });
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n');
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; error_log stderr warn;\nevents {}\nhttp { access_log off; ${temporary}\n${block} }\n`,
  );
  const nginx = spawn('/usr/sbin/nginx', ['-p', folder, '-c', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  await judgeProxy(t, setting, nginx);
});
