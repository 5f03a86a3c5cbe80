import { withLengths } from '../codec/nal.js';
import { isSamePicture, isSameSound, type StreamInfo } from '../codec/track.js';
import { headerWord, type RingMemory } from './layout.js';
import { encodeStreamInfo, loadStreamInfo, storeStreamInfo } from './stream-info.js';

/** The writer's side of a ring's descriptions: the numbers that frames carry of them. */
export class Description {
  /** What is described, or null before the first. */
  info: StreamInfo | null;
  version: number;
  formatVersion: number;
  /**
   * Whether keyframes have to bring their parameter sets along. They do from the first change on, which begins a format
   * for that: a player that goes back to a keyframe without any takes those that it saw last.
   */
  setsVary: boolean;
  /** The next description with sound still is of this format. */
  awaitsSound = false;

  /** Goes on after the writer before. */
  constructor(memory: RingMemory) {
    const { header } = memory;
    this.version = header[headerWord.streamVersion]!;
    this.formatVersion = header[headerWord.formatVersion]!;
    this.setsVary = header[headerWord.setsVary] === 1;
    this.info = loadStreamInfo(memory, this.version);
    Atomics.store(header, headerWord.awaitsSound, 0);
  }

  /**
   * Describes what comes next. The same description again changes nothing. `awaitsSound`: if this begins a format, it
   * isn't known yet whether that has sound.
   */
  set(memory: RingMemory, info: StreamInfo, awaitsSound: boolean): void {
    const before = this.info;
    const isSameVideo = before !== null && isSamePicture(before.video, info.video);
    const isSameSets = before !== null && setsOf(before).equals(setsOf(info));
    const isSettled = this.awaitsSound && before?.audio === null;
    const isSameAudio = before !== null && (isSettled || isSameSound(before.audio, info.audio));
    const setsBeganToVary = isSameVideo && !this.setsVary && !isSameSets;
    const encoded = encodeStreamInfo(info);
    const isNewFormat = !isSameVideo || setsBeganToVary || !isSameAudio;
    if (!isSameVideo || setsBeganToVary) this.setsVary = isSameVideo;
    if (before === null || !encodeStreamInfo(before).equals(encoded)) {
      this.version = (this.version + 1) | 0;
      storeStreamInfo(memory, this.version, encoded);
      this.info = info;
    }
    if (isNewFormat) this.formatVersion = this.version;
    this.awaitsSound = awaitsSound && (isNewFormat || this.awaitsSound);
    const { header } = memory;
    header[headerWord.formatVersion] = this.formatVersion;
    header[headerWord.setsVary] = this.setsVary ? 1 : 0;
    Atomics.store(header, headerWord.streamVersion, this.version);
    // Last: who sees it settled sees with what.
    Atomics.store(header, headerWord.awaitsSound, this.awaitsSound ? 1 : 0);
  }
}

const setsOf = ({ video }: StreamInfo): Buffer => withLengths([...video.vps, ...video.sps, ...video.pps]);
