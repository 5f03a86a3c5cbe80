import type { Metadata } from '../../analytics/metadata.js';
import { readMetadata } from '../../analytics/read-metadata.js';
import { Allowance } from '../../base/allowance.js';
import type { MonotonicMs } from '../../base/clock.js';
import type { DocumentSink } from '../../rtp/depacketize-metadata.js';
import type { AnalyticsNews, TimedScene } from '../messages.js';

import type { MetadataTime } from './metadata-time.js';

/** Frames come 25 times a second; so often they are looked at. */
const SCENE_EVERY_MS = 190;
/** What is read of a camera in a second, and at once: some 40 ms of the thread that others share. */
const READ_BYTES_A_SEC = 512 * 1024;
/** Scenes and notices that are told of in a second, and at once. */
const NEWS_A_SEC = 64;
/** A document with things in it is over soon after; one without, or with something that happened, may be the last. */
const NOTIFICATION = Buffer.from('Notification');
const APPEARANCE = Buffer.from('Appearance');

/** Who hears what a camera's own analytics tell. */
export type MetadataListener = {
  onNews(news: AnalyticsNews): void;
  /** Whether documents are to be told of as they come, be they read or not. */
  areDocumentsWanted(): boolean;
  onDocument(bytes: Uint8Array, wallMs: number): void;
};

export type MetadataTrackDeps = {
  readonly time: MetadataTime;
  /** Where a picture that came at this time would be; null before the first. */
  readonly wallMsAt: (nowMs: MonotonicMs) => number | null;
  readonly listener: MetadataListener;
};

/** One session's metadata on its way from documents to what they say, at its place among the pictures. */
export class MetadataTrack implements DocumentSink {
  /** When the packet that is being handled came; set by the owner before each. */
  arrivalMs = 0 as MonotonicMs;
  readonly counters = { documents: 0, refused: 0, objects: 0 };
  readonly #deps: MetadataTrackDeps;
  readonly #readBytes = new Allowance(READ_BYTES_A_SEC);
  readonly #passedBytes = new Allowance(READ_BYTES_A_SEC);
  readonly #news = new Allowance(NEWS_A_SEC);
  /** Of the newest scene with objects that was told. */
  #sceneWallMs = Number.NEGATIVE_INFINITY;
  #sceneMs = Number.NEGATIVE_INFINITY;
  #hadObjects = false;

  constructor(deps: MetadataTrackDeps) {
    this.#deps = deps;
  }

  document(bytes: Buffer, end: number, rtpTimestamp: number): void {
    this.counters.documents += 1;
    const document = bytes.subarray(0, end);
    if (this.#deps.listener.areDocumentsWanted()) this.#passOn(document, rtpTimestamp);
    if (this.#isPassedOver(document)) return;
    const read = this.#readBytes.take(end, this.arrivalMs) ? readMetadata(document) : null;
    if (read === null || 'refused' in read) {
      this.counters.refused += 1;
      return;
    }
    const arrivedMs = this.#deps.wallMsAt(this.arrivalMs);
    // What nobody sees a picture of is told when there is one: cameras tell of what goes on again and again.
    if (arrivedMs === null) return;
    this.#tell(read, rtpTimestamp, arrivedMs);
  }

  #passOn(document: Buffer, rtpTimestamp: number): void {
    const { time, listener } = this.#deps;
    const arrivedMs = this.#deps.wallMsAt(this.arrivalMs);
    if (arrivedMs === null || !this.#passedBytes.take(document.length, this.arrivalMs)) return;
    // A copy of its own: what goes to another thread goes with the memory that it lies in.
    listener.onDocument(new Uint8Array(document), time.placeNotice(rtpTimestamp, arrivedMs, null));
  }

  #tell({ scenes, notices }: Metadata, rtpTimestamp: number, arrivedMs: number): void {
    const { time, listener } = this.#deps;
    const times = time.placeScenes(
      rtpTimestamp,
      arrivedMs,
      scenes.map(({ utcMs }) => utcMs),
    );
    const told = scenes
      .map(({ objects }, index): TimedScene => ({ wallMs: times[index]!, objects }))
      .filter((scene) => this.#isNews(scene));
    const noticed = notices
      .filter(() => this.#news.take(1, this.arrivalMs))
      .map(({ utcMs, ...notice }) => ({
        ...notice,
        wallMs: time.placeNotice(rtpTimestamp, arrivedMs, utcMs),
      }));
    if (told.length > 0 || noticed.length > 0) listener.onNews({ scenes: told, notices: noticed });
  }

  /** Of scenes with objects some; of empty ones the first. */
  #isNews({ wallMs, objects }: TimedScene): boolean {
    this.counters.objects += objects.length;
    const isEmpty = objects.length === 0;
    // A clock that was set back begins anew.
    const isSoon = Math.abs(wallMs - this.#sceneWallMs) < SCENE_EVERY_MS;
    if ((isEmpty ? !this.#hadObjects : isSoon) || !this.#news.take(1, this.arrivalMs)) return false;
    this.#hadObjects = !isEmpty;
    if (isEmpty) return true;
    this.#sceneWallMs = wallMs;
    this.#sceneMs = this.arrivalMs;
    return true;
  }

  /** Whether it isn't worth to be read, by what is seen of it at a glance. */
  #isPassedOver(document: Buffer): boolean {
    const isSoon = this.#hadObjects && this.arrivalMs - this.#sceneMs < SCENE_EVERY_MS;
    return isSoon && !document.includes(NOTIFICATION) && document.includes(APPEARANCE);
  }
}
