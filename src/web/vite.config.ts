import { defineConfig } from 'vite';
import { budgets } from './build/budgets.js';
import { layered } from './build/layered.js';
import { precompressed } from './build/precompressed.js';

/** Where `npm run web` finds the service whose pages it serves with reload. */
const service = process.env['SERVICE_URL'] ?? 'http://localhost:8080';
const handedOn = { target: service, ws: true, changeOrigin: false };

export default defineConfig({
  // Names of classes and files come from their content alone: the same sources make the same build.
  base: '/',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  css: { modules: { localsConvention: 'camelCaseOnly' } },
  worker: { format: 'es' },
  build: {
    emptyOutDir: true,
    target: 'es2022',
    // Nothing inline: the content policy takes scripts and styles from files alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  plugins: [layered(), precompressed(), budgets()],
  server: {
    proxy: Object.fromEntries(
      ['/api', '/stream', '/hls', '/models', '/exports'].map((path) => [path, handedOn]),
    ),
  },
});
