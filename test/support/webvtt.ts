import { createRequire } from 'node:module';

export type Cue = { readonly startTime: number; readonly endTime: number; readonly text: string };

type Parser = {
  parse(
    text: string,
    mode: 'metadata',
  ): { readonly cues: readonly Cue[]; readonly errors: readonly unknown[] };
};

const { WebVTTParser } = createRequire(import.meta.url)('webvtt-parser') as {
  WebVTTParser: new () => Parser;
};

/** What a foreign parser makes of a file. It knows no X-TIMESTAMP-MAP, which RFC 8216 §3.5 adds to the header. */
export const parseWebVtt = (text: string): ReturnType<Parser['parse']> =>
  new WebVTTParser().parse(text.replace(/\nX-.*/, '\n'), 'metadata');
