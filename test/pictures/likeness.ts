import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What ffprobe says of a JPEG. */
export const factsOf = (jpeg: Buffer): string => {
  const args = ['-v', 'error', '-show_entries', 'stream=codec_name,width,height,sample_aspect_ratio'];
  return execFileSync('ffprobe', [...args, '-of', 'csv=p=0', '-'], { input: jpeg, encoding: 'utf8' }).trim();
};

/** How like two pictures are, as ffmpeg's filter sees it, in dB: `picture` of a file, cut to the same size. */
export const psnrOf = (
  folder: string,
  jpeg: Buffer,
  source: string,
  picture: number,
  pixels = 'gbrp',
): number => {
  const path = join(folder, 'picture.jpg');
  writeFileSync(path, jpeg);
  const [, width, height] = factsOf(jpeg).split(',');
  const filters =
    `[0:v]format=${pixels}[jpeg];[1:v]select=eq(n\\,${picture}),` +
    `scale=${width}:${height}:flags=area,format=${pixels}[own];[jpeg][own]psnr`;
  const { stderr } = spawnSync(
    'ffmpeg',
    ['-v', 'info', '-i', path, '-i', source, '-lavfi', filters, '-frames:v', '1', '-f', 'null', '-'],
    { encoding: 'utf8' },
  );
  return Number(/average:([\d.]+)/.exec(stderr)?.[1] ?? Number.NaN);
};
