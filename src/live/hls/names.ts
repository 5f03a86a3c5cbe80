/** What a file of a camera's live HLS is, by its name. */
export type FileName =
  | { readonly kind: 'ts' | 'mp4' | 'subtitles'; readonly segment: number }
  | { readonly kind: 'part'; readonly segment: number; readonly part: number }
  | { readonly kind: 'init'; readonly version: number };

/** The names of the files, as playlists list them. */
export const names = {
  ts: (segment: number): string => `segment_${segment}.ts`,
  subtitles: (segment: number): string => `subs_${segment}.vtt`,
  mp4: (segment: number): string => `segment_${segment}.m4s`,
  part: (segment: number, part: number): string => `part_${segment}_${part}.m4s`,
  init: (version: number): string => `init_${version}.mp4`,
} as const;

/** No number that we count to is longer; all are exact as doubles. */
const shape = /^(segment|subs|part|init)_(\d{1,15})(?:_(\d{1,6}))?\.(ts|vtt|m4s|mp4)$/;

/** Reads a name that a client sent; null: no file of ours is called that. */
export const parseName = (name: string): FileName | null => {
  const match = shape.exec(name);
  if (match === null) return null;
  const number = Number(match[2]);
  const part = Number(match[3] ?? 0);
  // Only the one spelling that we give out, so that no cache holds a file under two names.
  switch (name) {
    case names.ts(number):
      return { kind: 'ts', segment: number };
    case names.mp4(number):
      return { kind: 'mp4', segment: number };
    case names.subtitles(number):
      return { kind: 'subtitles', segment: number };
    case names.part(number, part):
      return { kind: 'part', segment: number, part };
    case names.init(number):
      return { kind: 'init', version: number };
    default:
      return null;
  }
};
