import { type RecordingSource, unreadable, withRecording } from '../files/recording-source.js';
import { movieStream } from './movie-stream.js';

/** What a player has to know of a recording as MPEG-TS before it plays it. */
export type StreamDescription = {
  /** RFC 6381. */
  readonly codecs: readonly string[];
  readonly width: number;
  readonly height: number;
};

/** Job: what a recording holds. */
export const describeStream = ({ source }: { readonly source: RecordingSource }): StreamDescription =>
  withRecording(source, (recording) => {
    const { movie } = recording.walk(0, recording.fileBytes).scanner;
    const stream = movie === null ? null : movieStream(movie);
    if (stream === null) throw unreadable('it holds no video that MPEG-TS can carry');
    const { video, audio } = stream.info;
    const codecs = [video.codecString, ...(audio === null ? [] : [audio.codecString])];
    return { codecs, width: video.width, height: video.height };
  });
