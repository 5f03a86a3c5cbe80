import type { ExportItem } from './exported-file.js';

/** `2026-11-21_08-30-00Z`: no colon, which not every file system takes. */
const shownTime = (timeMs: number): string =>
  `${new Date(timeMs).toISOString().slice(0, 19).replace('T', '_').replaceAll(':', '-')}Z`;

/** A file's name, in UTC; another one where it is `taken`, in small letters, as there are disks that see no others. */
export const fileNameOf = ({ cameraId, fromMs, toMs }: ExportItem, taken: ReadonlySet<string>): string => {
  const stem = `${cameraId}_${shownTime(fromMs)}_to_${shownTime(toMs)}`;
  let name = `${stem}.mp4`;
  for (let count = 2; taken.has(name.toLowerCase()); count += 1) name = `${stem}_${count}.mp4`;
  return name;
};

export const zipNameOf = (madeMs: number): string => `export_${shownTime(madeMs)}.zip`;
