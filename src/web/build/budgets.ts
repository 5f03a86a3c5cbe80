import type { Plugin } from 'vite';
import { compressed } from './brotli.js';

/** Bytes, as Brotli sends them. What a page needs alone is loaded with that page. */
const FIRST_LOAD_BYTES = 90_000;
const LATER_BYTES: Readonly<Record<string, number>> = {
  archive: 35_000,
  admin: 30_000,
  cameras: 30_000,
  uplot: 22_000,
  hls: 180_000,
  // Who has a model run in the browser: its worker, and what runs it.
  model: 60_000,
  ort: 3_200_000,
};

type Chunk = { readonly fileName: string; readonly code: string; readonly imports: readonly string[] };

const sizeOf = (content: string | Uint8Array): number => compressed(content).length;

/** The build fails where a page would take longer to load than it may. */
export const budgets = (): Plugin => ({
  name: 'budgets',
  apply: 'build',
  generateBundle(_options, bundle) {
    const files = Object.values(bundle);
    const chunks = new Map<string, Chunk>();
    for (const file of files) if (file.type === 'chunk') chunks.set(file.fileName, file);
    const first = new Set<string>();
    const take = (name: string): void => {
      if (first.has(name)) return;
      first.add(name);
      for (const next of chunks.get(name)?.imports ?? []) take(next);
    };
    for (const file of files) {
      // What the first screens need: the entry, login, the wall, and the workers that show pictures.
      if (file.type === 'chunk' && (file.isEntry || /^assets\/(?:wall|login|first)-/.test(file.fileName)))
        take(file.fileName);
      if (file.type === 'asset' && /(?:\.css$|(?<!model-)worker)/.test(file.fileName))
        first.add(file.fileName);
    }
    let firstBytes = 0;
    for (const file of files) {
      const size = sizeOf(file.type === 'chunk' ? file.code : file.source);
      if (first.has(file.fileName)) firstBytes += size;
      const [, name = ''] = /^assets\/([a-z]+)-/.exec(file.fileName) ?? [];
      const limit = LATER_BYTES[name];
      if (!first.has(file.fileName) && limit !== undefined && size > limit)
        this.error(`${file.fileName} has ${size} bytes with Brotli, and may have ${limit}`);
    }
    if (firstBytes > FIRST_LOAD_BYTES)
      this.error(
        `the first load has ${firstBytes} bytes with Brotli, and may have ${FIRST_LOAD_BYTES}: ${[...first].join(', ')}`,
      );
  },
});
