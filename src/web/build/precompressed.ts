import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { compressed } from './brotli.js';

/** Below this the head of an answer weighs as much as what would be spared. */
const MIN_BYTES = 1_024;

/** Text is compressed once, as well as it goes, instead of by the service at each request. */
export const precompressed = (): Plugin => ({
  name: 'precompressed',
  apply: 'build',
  writeBundle: ({ dir }) => {
    if (dir === undefined) return;
    for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:js|css|html|svg|wasm|webmanifest)$/.test(name)) continue;
      const path = join(dir, name);
      const plain = readFileSync(path);
      if (plain.length < MIN_BYTES) continue;
      writeFileSync(`${path}.br`, compressed(plain));
    }
  },
});
