import type { z } from 'zod';
import type { exportSchema } from '../../http/export-schemas.js';
import { api } from './session.js';

export type Export = z.infer<typeof exportSchema>;
export type ExportItem = { readonly camera: string; readonly fromMs: number; readonly toMs: number };

/** What there is to download, and how large it is; nothing is sent yet. */
export const planExport = (
  items: readonly ExportItem[],
  isZipped: boolean,
  signal: AbortSignal,
): Promise<Export> =>
  api<Export>('POST', '/api/exports', {
    signal,
    // Days of several cameras are looked through first.
    timeoutMs: 120_000,
    body: {
      items: items.map(({ camera, fromMs, toMs }) => ({
        camera_id: camera,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
      })),
      zip: isZipped,
    },
  });

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** "79 MB" */
export const sizeText = (bytes: number): string => {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 10 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
};

/** Has the browser save it under a name; an address of the service's is saved as the service names it. */
export const saveFile = (url: string, name = ''): void => {
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
};

export const saveBlob = (blob: Blob, name: string): void => {
  const url = URL.createObjectURL(blob);
  saveFile(url, name);
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
};
