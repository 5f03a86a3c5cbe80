import type { Plugin } from 'vite';

const ORDER = '@layer reset, tokens, base, parts, pages;\n';

/**
 * Each style sheet says the order of layers: parts that several pages share become a sheet of their own, which may be read
 * before the one that would have said it, and what is named first counts least.
 */
export const layered = (): Plugin => ({
  name: 'layered',
  enforce: 'pre',
  transform: (code, id) => (/\.css(?:$|\?)/.test(id) ? { code: ORDER + code, map: null } : null),
});
