import { VIDEO_CLOCK_HZ } from '../../codec/track.js';
import type { RecordingSource } from '../files/recording-source.js';
import type { JobRunner } from '../jobs/jobs.js';
import type { RecordedParts } from '../parts/recorded-parts.js';
import { FileContent } from './file-content.js';
import { nothingIn, type RecordingLocator, twice } from './locator.js';
import type { NamedFile } from './playback.js';
import { boxQuery } from './playlist.js';

/** What is known of a table's keyframes: a table only ever grows at its end. */
type KnownEnds = { endBytes: Float64Array; movieEndBytes: number };

/** As in playlists of whole parts: a growing one keeps its target. */
const EVENT_TARGET_SECONDS = 10;

/** The keyframes of recordings for players that scrub: a playlist of ranges, and the bytes that they point at. */
export class KeyFrames {
  readonly #locator: RecordingLocator;
  readonly #runner: JobRunner;
  /** As long as the table itself is known. */
  readonly #ends = new WeakMap<RecordedParts, KnownEnds>();

  constructor(deps: { readonly locator: RecordingLocator; readonly runner: JobRunner }) {
    this.#locator = deps.locator;
    this.#runner = deps.runner;
  }

  /** `keyframes.m3u8` of one file (RFC 8216 §4.3.3.6); one that is being written grows. */
  async keyFramePlaylist(
    cameraId: string,
    { session, ...file }: NamedFile & { readonly session: string | null },
  ): Promise<Buffer> {
    return twice(async () => {
      const { fileName } = file;
      const { recording, source, parts, box } = await this.#locator.locate(cameraId, fileName, file.box);
      if (parts.count === 0) throw nothingIn(recording);
      const known = await this.#endsOf(source, parts);
      const suffix = session === null ? '' : `&session=${encodeURIComponent(session)}`;
      const address = `recording.mp4?file=${encodeURIComponent(fileName)}${boxQuery(box)}${suffix}`;
      return Buffer.from(playlistOf(address, parts, known, !recording.isOpen));
    });
  }

  /** The file's own bytes. */
  async content(cameraId: string, { fileName, box }: NamedFile): Promise<FileContent> {
    const { recording, source, parts } = await twice(() => this.#locator.locate(cameraId, fileName, box));
    if (parts.count === 0 && !parts.isOneOpen) throw nothingIn(recording);
    const relocate = (moved: RecordingSource) => this.#locator.relocate(cameraId, moved);
    return new FileContent(source, { runner: this.#runner, relocate });
  }

  async #endsOf(source: RecordingSource, parts: RecordedParts): Promise<KnownEnds> {
    const { count } = parts;
    let known = this.#ends.get(parts) ?? { endBytes: new Float64Array(0), movieEndBytes: 0 };
    while (known.endBytes.length < count) {
      const startBytes = parts.startBytes.slice(known.endBytes.length, count);
      const { endBytes, movieEndBytes } = await this.#runner.run('keyFrameEnds', { source, startBytes });
      known = { endBytes: joined(known.endBytes, endBytes), movieEndBytes };
    }
    this.#ends.set(parts, known);
    return known;
  }
}

const joined = (known: Float64Array, more: Float64Array): Float64Array => {
  const all = new Float64Array(known.length + more.length);
  all.set(known);
  all.set(more, known.length);
  return all;
};

const playlistOf = (
  address: string,
  parts: RecordedParts,
  { endBytes, movieEndBytes }: KnownEnds,
  isEnded: boolean,
): string => {
  const lines: string[] = [];
  let longestSeconds = isEnded ? 1 : EVENT_TARGET_SECONDS;
  for (let part = 0; part < endBytes.length; part += 1) {
    const startBytes = parts.startBytes[part]!;
    const lengthBytes = endBytes[part]! - startBytes;
    // A keyframe that doesn't lie behind its part's head is a damaged file's.
    if (!(lengthBytes > 0 && endBytes[part]! <= parts.endBytes[part]!)) continue;
    const seconds = (parts.endTicks[part]! - parts.ptsTicks[part]!) / VIDEO_CLOCK_HZ;
    longestSeconds = Math.max(longestSeconds, Math.round(seconds));
    lines.push(
      `#EXT-X-PROGRAM-DATE-TIME:${new Date(Math.round(parts.wallMs[part]!)).toISOString()}`,
      `#EXTINF:${seconds.toFixed(6)},`,
      `#EXT-X-BYTERANGE:${lengthBytes}@${startBytes}`,
      address,
    );
  }
  const head = [
    '#EXTM3U',
    '#EXT-X-VERSION:6',
    `#EXT-X-PLAYLIST-TYPE:${isEnded ? 'VOD' : 'EVENT'}`,
    `#EXT-X-TARGETDURATION:${longestSeconds}`,
    '#EXT-X-MEDIA-SEQUENCE:0',
    '#EXT-X-I-FRAMES-ONLY',
    `#EXT-X-MAP:URI="${address}",BYTERANGE="${movieEndBytes}@0"`,
  ];
  return `${[...head, ...lines, ...(isEnded ? ['#EXT-X-ENDLIST'] : [])].join('\n')}\n`;
};
