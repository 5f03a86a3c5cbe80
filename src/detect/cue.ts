import type { Detection } from './detections.js';

const DIGITS = 1e4;

const rounded = (value: number): number => Math.round(value * DIGITS) / DIGITS;

/** Characters that mean something in WebVTT, such as an arrow in a label: in JSON they can be written otherwise. */
const escaped = (json: string): string =>
  json.replaceAll(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** What subtitles say of a picture: one line of JSON; null where nothing was seen. */
export const cueText = ({ wallMs, source, objects }: Detection): string | null => {
  if (objects.length === 0) return null;
  const shown = objects.map(({ label, score, box }) => ({
    label,
    score: rounded(score),
    box: box.map(rounded),
  }));
  return escaped(JSON.stringify({ t: new Date(wallMs).toISOString(), source, objects: shown }));
};
