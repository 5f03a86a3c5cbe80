import { withLengths } from '../codec/nal.js';
import { isSamePicture, isSameSound, type StreamInfo } from '../codec/track.js';
import { headerWord, type RingMemory } from './layout.js';
import { decodeStreamInfo, encodeStreamInfo, loadEncodedStreamInfo, storeStreamInfo } from './stream-info.js';

/** The writer's side of a ring's descriptions: the numbers that frames carry of them. */
export class Description {
  version: number;
  formatVersion: number;
  /**
   * Whether keyframes have to bring their parameter sets along. They do from the first change on, which begins a format
   * for that: a player that goes back to a keyframe without any takes those that it saw last.
   */
  setsVary: boolean;

  /** Goes on after the writer before. */
  constructor({ header }: RingMemory) {
    this.version = header[headerWord.streamVersion]!;
    this.formatVersion = header[headerWord.formatVersion]!;
    this.setsVary = header[headerWord.setsVary] === 1;
  }

  /** Describes what comes next. The same description again changes nothing. */
  set(memory: RingMemory, info: StreamInfo): void {
    const encoded = encodeStreamInfo(info);
    const known = loadEncodedStreamInfo(memory, this.version);
    if (known?.equals(encoded)) return;
    const before = known === null ? null : decodeStreamInfo(known);
    this.version = (this.version + 1) | 0;
    const isSameVideo = before !== null && isSamePicture(before.video, info.video);
    const setsBeganToVary = isSameVideo && !this.setsVary && !isSameSets(before, info);
    if (!isSameVideo || setsBeganToVary) this.setsVary = isSameVideo;
    if (!isSameVideo || setsBeganToVary || !isSameSound(before.audio, info.audio))
      this.formatVersion = this.version;
    storeStreamInfo(memory, this.version, encoded);
    const { header } = memory;
    header[headerWord.formatVersion] = this.formatVersion;
    header[headerWord.setsVary] = this.setsVary ? 1 : 0;
    Atomics.store(header, headerWord.streamVersion, this.version);
  }
}

const isSameSets = (a: StreamInfo, b: StreamInfo): boolean => setsOf(a).equals(setsOf(b));

const setsOf = ({ video }: StreamInfo): Buffer => withLengths([...video.vps, ...video.sps, ...video.pps]);
