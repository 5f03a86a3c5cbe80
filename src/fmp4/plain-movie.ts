import { ascii, boxOf, u32, u64 } from './box-bytes.js';
import { creationMeta, movieSeconds } from './metadata-boxes.js';
import { ftyp, mvhd } from './movie-boxes.js';
import { PlainTrack, type PlainTrackSpec, type PlainTrackState, type SampleFields } from './plain-track.js';

/** All that a movie has collected: plain fields, so that it can move between threads. */
export type PlainMovieState = { readonly tracks: PlainTrackState[]; dataBytes: number };

/** An ordinary MP4: `head`, then the chunks, one behind another. */
export type PlainMovieHead = {
  readonly head: Uint8Array<ArrayBuffer>;
  /** Of the whole MP4. */
  readonly contentBytes: number;
  readonly durationMs: number;
};

const MOVIE_TIMESCALE_HZ = 90_000;
/** Beyond this, offsets and mdat's size may not fit 32 bits any more. */
const MAX_BRIEF_BYTES = 0xf000_0000;

/**
 * Collects what is known of the samples of an ordinary MP4, moov first, chunk by chunk in the order of its data. Times
 * that are given are the movie's: what is before 0 is trimmed by an edit list, and where a track begins later, it
 * pauses. What lies between two samples lengthens the first of them: FFmpeg, Chromium and others know no pauses but
 * the one at a track's beginning.
 */
export class PlainMovie {
  readonly state: PlainMovieState;
  readonly #tracks: PlainTrack[];

  constructor(state: PlainMovieState = { tracks: [], dataBytes: 0 }) {
    this.state = state;
    this.#tracks = state.tracks.map((track) => new PlainTrack(track));
  }

  get sampleCount(): number {
    return this.#tracks.reduce((sum, { sampleCount }) => sum + sampleCount, 0);
  }

  /** `longestPauseSeconds`: what may lie between two samples. */
  addTrack(spec: PlainTrackSpec, longestPauseSeconds = 0): void {
    const track = PlainTrack.begin(spec, longestPauseSeconds);
    this.state.tracks.push(track.state);
    this.#tracks.push(track);
  }

  /** Adds samples [first, end) of a track, whose bytes come next in the data. `shiftTicks` is added to their times. */
  addChunk(track: number, samples: SampleFields, first: number, end: number, shiftTicks: number): void {
    if (first >= end) return;
    const { dataBytes } = this.state;
    this.state.dataBytes = this.#tracks[track]!.addChunk(samples, first, end, shiftTicks, dataBytes);
  }

  /** Called once. `startMs`: what the wall clock showed at time 0; null: that is not known. */
  finish(startMs: number | null): PlainMovieHead {
    const { dataBytes } = this.state;
    const used = this.#tracks.filter((track) => track.sampleCount > 0);
    const durationTicks = Math.max(0, ...used.map((track) => track.movieTicks(MOVIE_TIMESCALE_HZ)));
    const isLarge = dataBytes > MAX_BRIEF_BYTES;
    const createdSeconds = startMs === null ? 0 : movieSeconds(startMs);
    const facts = { movieTimescaleHz: MOVIE_TIMESCALE_HZ, createdSeconds, isLarge };
    const buildHead = (dataStart: number): Uint8Array[] => [
      ftyp('isom', ['isom', 'iso4', 'mp41']),
      ...boxOf('moov', [
        mvhd(MOVIE_TIMESCALE_HZ, durationTicks, used.length + 1, createdSeconds),
        ...used.flatMap((track, index) => track.trak(index + 1, { ...facts, dataStart })),
        ...(startMs === null ? [] : [creationMeta(startMs)]),
      ]),
      ...(isLarge ? [u32(1), ascii('mdat'), u64(dataBytes + 16)] : [u32(dataBytes + 8), ascii('mdat')]),
    ];
    // Offsets don't change how long it is: the first one tells where the data begins.
    const headBytes = buildHead(0).reduce((sum, { length }) => sum + length, 0);
    const head = new Uint8Array(headBytes);
    let at = 0;
    for (const piece of buildHead(headBytes)) {
      head.set(piece, at);
      at += piece.length;
    }
    const durationMs = (durationTicks * 1000) / MOVIE_TIMESCALE_HZ;
    return { head, contentBytes: headBytes + dataBytes, durationMs };
  }
}
