import assert from 'node:assert/strict';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, type InputTrack } from 'mediabunny';
import { createFile, type ISOFile, type Movie, MP4BoxBuffer, type Sample } from 'mp4box';

/** A sample as a reader that isn't ours sees it; seconds by the file's presentation, edit lists applied or not. */
export type ReadSample = { readonly seconds: number; readonly sizeBytes: number; readonly isKey: boolean };

export type ReadTrack = {
  readonly codec: string;
  readonly width: number;
  readonly height: number;
  readonly samples: readonly ReadSample[];
};

const arrayBufferOf = (file: Buffer): ArrayBuffer => new Uint8Array(file).buffer;

const samplesOf = (file: ISOFile, movie: Movie): Map<number, Sample[]> => {
  const found = new Map<number, Sample[]>(movie.tracks.map(({ id }) => [id, []]));
  file.onSamples = (id, _user, samples) => void found.get(id)?.push(...samples);
  for (const { id } of movie.tracks) file.setExtractionOptions(id);
  file.start();
  return found;
};

/** What mp4box.js reads: composition times as they are in the file. */
export const readWithMp4Box = (
  bytes: Buffer,
): { readonly isFragmented: boolean; readonly tracks: readonly ReadTrack[] } => {
  const file = createFile();
  let movie: Movie | null = null;
  let samples = new Map<number, Sample[]>();
  file.onError = (_module, message) => assert.fail(message);
  file.onReady = (info) => {
    movie = info;
    samples = samplesOf(file, info);
  };
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(arrayBufferOf(bytes), 0), true);
  file.flush();
  if (movie === null) throw new Error('mp4box.js finds no movie');
  const { tracks, isFragmented } = movie as Movie;
  return {
    isFragmented,
    tracks: tracks.map(({ id, codec, track_width, track_height }) => ({
      codec,
      width: track_width,
      height: track_height,
      samples: samples.get(id)!.map(({ cts, timescale, size, is_sync }) => ({
        seconds: cts / timescale,
        sizeBytes: size,
        isKey: is_sync,
      })),
    })),
  };
};

const readTrack = async (track: InputTrack): Promise<ReadTrack> => {
  const samples: ReadSample[] = [];
  for await (const { timestamp, byteLength, type } of new EncodedPacketSink(track).packets()) {
    samples.push({ seconds: timestamp, sizeBytes: byteLength, isKey: type === 'key' });
  }
  const isVideo = track.isVideoTrack();
  return {
    codec: (await track.getCodecParameterString()) ?? '',
    width: isVideo ? await track.getCodedWidth() : 0,
    height: isVideo ? await track.getCodedHeight() : 0,
    samples,
  };
};

/** What mediabunny reads: times with edit lists applied. */
export const readWithMediabunny = async (bytes: Buffer): Promise<readonly ReadTrack[]> => {
  using input = new Input({ formats: ALL_FORMATS, source: new BufferSource(arrayBufferOf(bytes)) });
  const tracks: ReadTrack[] = [];
  for (const track of await input.getTracks()) tracks.push(await readTrack(track));
  return tracks;
};
