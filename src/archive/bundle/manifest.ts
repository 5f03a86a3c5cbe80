import type { ExportedFile } from './exported-file.js';

/** Who made an export, and when. */
export type ExportOrigin = { readonly madeBy: string; readonly madeMs: number };

export const MANIFEST_NAME = 'manifest.json';
export const SUMS_NAME = 'SHA256SUMS';

const UNKNOWN_SHA256 = '0'.repeat(64);

const isoOf = (timeMs: number): string => new Date(timeMs).toISOString();

/** What is in the export, and where it is from. Its length is the same whatever the checksums are. */
export const manifestOf = (
  { madeBy, madeMs }: ExportOrigin,
  files: readonly ExportedFile[],
  sha256Of: (file: ExportedFile) => string = () => UNKNOWN_SHA256,
): Buffer => {
  const shown = files.map((file) => ({
    name: file.name,
    camera_id: file.item.cameraId,
    from: isoOf(file.item.fromMs),
    to: isoOf(file.item.toMs),
    begins_at: isoOf(file.clip.beginMs),
    ends_at: isoOf(file.clip.endMs),
    bytes: file.clip.contentBytes,
    sha256: sha256Of(file),
    subtitles: file.subtitles === null ? null : file.subtitlesName,
    gaps: file.gaps.map(({ startMs, endMs, reason }) => ({
      from: isoOf(startMs),
      to: isoOf(endMs),
      reason,
    })),
  }));
  const manifest = { version: 1, made_by: madeBy, made_at: isoOf(madeMs), files: shown };
  return Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
};

/** What `sha256sum -c` reads. */
export const sumsOf = (sums: readonly { readonly name: string; readonly sha256: string }[]): Buffer =>
  Buffer.from(sums.map(({ name, sha256 }) => `${sha256}  ${name}\n`).join(''));

/** The same, before they are known. */
export const unknownSumsOf = (names: readonly string[]): Buffer =>
  sumsOf(names.map((name) => ({ name, sha256: UNKNOWN_SHA256 })));
